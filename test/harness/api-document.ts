import { followPointer } from "../../src/http/json-pointer.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** What a body may be, by content type. */
export type Content = Readonly<Record<string, { readonly schema?: JsonObject; readonly example?: unknown }>>;

/** An operation of an OpenAPI document with everything in it that the document refers to. */
export interface ApiOperation {
  readonly method: string;
  /** With `{name}` parameters. */
  readonly path: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: JsonObject }[];
  readonly requestBody: { readonly content: Content } | null;
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** The operations of a document. Throws an Error for a reference to nothing. */
export function operationsOf(document: unknown): ApiOperation[] {
  const paths: Record<string, Record<string, ApiOperation>> = JSON.parse(
    JSON.stringify(inlined(followPointer(document, "/paths"), document, new Map())),
  );
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters ?? [],
      requestBody: operation.requestBody ?? null,
    })),
  );
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value with what its references refer to in their places. */
function inlined(value: unknown, document: unknown, known: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => inlined(item, document, known));
  if (!isJsonObject(value)) return value;
  const { $ref: reference } = value;
  if (typeof reference !== "string") {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, inlined(member, document, known)]),
    );
  }
  if (!known.has(reference)) {
    const target = followPointer(document, reference.slice(1));
    if (target === undefined) throw new Error(`${reference} refers to nothing`);
    known.set(reference, inlined(target, document, known));
  }
  return known.get(reference);
}
