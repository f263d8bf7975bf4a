export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a JSON text, undefined when it is not one. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses JSON so that JSON.stringify writes every number with the digits it came with: an integer beyond 2^53 or a
 * `1.0` is not changed on the way. Such numbers are opaque values, the others ordinary ones. Undefined when it is no JSON.
 */
export function parseJsonExactly(text: string): unknown {
  try {
    return JSON.parse(text, (_, value, { source }) =>
      typeof value === "number" && source !== undefined && String(value) !== source
        ? JSON.rawJSON(source)
        : value,
    );
  } catch {
    return undefined;
  }
}
