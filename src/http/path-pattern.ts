/** Where the parameters of a route sit in its path. */
interface PathPattern {
  /** True when a path has this form; parameters match any segment that is not empty. */
  matches(segments: readonly string[]): boolean;
  /** The decoded parameters of a path that matches; undefined when one of them is not valid percent-encoded UTF-8. */
  params(segments: readonly string[]): Record<string, string> | undefined;
  readonly hasParams: boolean;
}

/** Compiles a path such as `/api/v1/me/tokens/:id`. */
export function compilePath(path: string): PathPattern {
  const parts = pathSegments(path);
  const names = parts.flatMap((part, index) =>
    part.startsWith(":") ? [{ name: part.slice(1), index }] : [],
  );
  return {
    hasParams: names.length > 0,
    matches: (segments) =>
      segments.length === parts.length &&
      parts.every((part, index) =>
        part.startsWith(":") ? segments[index] !== "" : part === segments[index],
      ),
    params: (segments) => {
      const params: Record<string, string> = {};
      for (const { name, index } of names) {
        const value = decodeSegment(segments[index] ?? "");
        if (value === undefined) return undefined;
        params[name] = value;
      }
      return params;
    },
  };
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
