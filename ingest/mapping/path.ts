import { PATH_MAX_CHARS, PATH_MAX_SEGMENTS } from "./mapping.ts";

/**
 * The segments of a path: `a.b`, `items[0].name` or `items.0.name`; `\.`, `\[` and `\\` stand for the characters
 * themselves. Null when it is none: empty, with an empty segment or a dangling backslash, too long or too deep.
 */
export function parsePath(path: string): readonly string[] | null {
  if (path.length > PATH_MAX_CHARS) return null;
  const segments: string[] = [];
  let segment = "";
  for (let at = 0; at < path.length; at++) {
    const char = path[at];
    if (char === "\\") {
      const escaped = path[++at];
      if (escaped === undefined) return null;
      segment += escaped;
    } else if (char === ".") {
      if (segment === "") return null;
      segments.push(segment);
      segment = "";
    } else {
      const index = char === "[" ? /^\[(\d{1,9})\](?=$|[.[])/.exec(path.slice(at, at + 12)) : null;
      if (index === null) {
        segment += char;
        continue;
      }
      if (segment !== "") segments.push(segment);
      segment = index[1] ?? "";
      at += segment.length + 1;
    }
  }
  if (segment === "") return null;
  segments.push(segment);
  return segments.length <= PATH_MAX_SEGMENTS ? segments : null;
}
