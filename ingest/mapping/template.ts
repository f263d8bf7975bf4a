import type { JsonObject } from "../decode/json-body.ts";
import { TEMPLATE_MAX_CHARS } from "./mapping.ts";
import { parsePath } from "./path.ts";
import type { Place, Places } from "./places.ts";
import { textOf } from "./value-text.ts";

/** The parts of a template: literal texts, and the segments of the paths between them. */
type Part = string | readonly string[];

/** A pair of the same braces is the brace itself; between single ones stands a path. */
const TOKEN = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g;

/** The parts of a template; null when a brace has no partner or a path is none. */
export function parseTemplate(template: string): readonly Part[] | null {
  if (template.length > TEMPLATE_MAX_CHARS) return null;
  const parts: Part[] = [];
  for (const [token, path] of template.matchAll(TOKEN)) {
    if (path !== undefined) {
      const segments = parsePath(path);
      if (segments === null) return null;
      parts.push(segments);
    } else if (token === "{" || token === "}") return null;
    else parts.push(token === "{{" || token === "}}" ? token.slice(1) : token);
  }
  return parts;
}

/** Fills a template from a record; null when nothing stands at any of its paths. What it shows counts as unused. */
export function compileTemplate(template: string, places: Places): (record: JsonObject) => string | null {
  const parts = (parseTemplate(template) ?? []).map((part) =>
    typeof part === "string" ? part : places.add(part),
  );
  return (record) => {
    let text = "";
    let found = false;
    for (const part of parts) {
      const shown: string = typeof part === "string" ? part : shownText(part, record);
      if (typeof part !== "string" && shown !== "") found = true;
      text += shown;
    }
    return found ? text.trim() : null;
  };
}

function shownText(place: Place, record: JsonObject): string {
  const value = place.find(record);
  return value === undefined || value === null ? "" : textOf(value);
}
