/** Where the parameters of a route sit in its path. */
interface PathPattern {
  /** True when a path has this form; parameters match any segment that is not empty. */
  matches(segments: readonly string[]): boolean;
  /**
   * The decoded parameters of a path that matches; undefined when one of them is not valid percent-encoded UTF-8 or lacks
   * its extension.
   */
  params(segments: readonly string[]): Record<string, string> | undefined;
  readonly hasParams: boolean;
}

/** A segment that is a parameter, or one with an extension behind it: `:id`, `:id.svg`. */
const PARAMETER = /^:([a-zA-Z][a-zA-Z0-9]*)(\.[a-z0-9]+)?$/;

/** The name of a segment that is a parameter, and what stands behind its value; null for a literal segment. */
export function parameterOf(segment: string): { readonly name: string; readonly extension: string } | null {
  const [, name, extension = ""] = PARAMETER.exec(segment) ?? [];
  return name === undefined ? null : { name, extension };
}

/** Compiles a path such as `/api/v1/me/tokens/:id` or `/api/v1/badge/monitors/:id.svg`. */
export function compilePath(path: string): PathPattern {
  const parts = pathSegments(path).map((literal) => ({ literal, parameter: parameterOf(literal) }));
  const names = parts.flatMap(({ parameter }, index) =>
    parameter === null ? [] : [{ ...parameter, index }],
  );
  return {
    hasParams: names.length > 0,
    matches: (segments) =>
      segments.length === parts.length &&
      parts.every(({ literal, parameter }, index) =>
        parameter === null
          ? literal === segments[index]
          : valueBefore(segments[index] ?? "", parameter.extension) !== undefined,
      ),
    params: (segments) => {
      const params: Record<string, string> = {};
      for (const { name, extension, index } of names) {
        const text = valueBefore(segments[index] ?? "", extension);
        const value = text === undefined ? undefined : decodeSegment(text);
        if (value === undefined) return undefined;
        params[name] = value;
      }
      return params;
    },
  };
}

/** What of a segment is the value of its parameter; undefined for one without its extension, and for an empty one. */
function valueBefore(segment: string, extension: string): string | undefined {
  if (segment.length <= extension.length || !segment.endsWith(extension)) return undefined;
  return segment.slice(0, segment.length - extension.length);
}

/** The path as a router takes it, to which a parameter is a whole segment. */
export function routerPath(path: string): string {
  return path
    .split("/")
    .map((segment) => {
      const parameter = parameterOf(segment);
      return parameter === null ? segment : `:${parameter.name}`;
    })
    .join("/");
}

/** The segments of a path; one trailing slash makes no difference. */
export function pathSegments(path: string): string[] {
  const end = path.length > 1 && path.endsWith("/") ? path.length - 1 : path.length;
  return path.slice(1, end).split("/");
}

function decodeSegment(segment: string): string | undefined {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
