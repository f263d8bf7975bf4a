import type { FieldIssue } from "../errors.ts";
import { isStorableText } from "../storage/storable-text.ts";
import { pointerTo } from "./json-pointer.ts";
import { MAX_PATH_CHARS } from "./limits.ts";

/** The first text, or name of a member, inside a JSON value that Postgres does not take; null when there is none. */
export function unstorableText(value: unknown): FieldIssue | null {
  const found = placeOfUnstorable(value);
  if (found === null) return null;
  const path = found.slice(0, MAX_PATH_CHARS).toWellFormed();
  return { path, code: "invalid_string", message: "must have no null characters and no unpaired surrogates" };
}

/** A JSON pointer. Recurses as deep as a body may nest. */
function placeOfUnstorable(value: unknown): string | null {
  if (typeof value === "string") return isStorableText(value) ? null : "";
  if (typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const inside = isStorableText(name) ? placeOfUnstorable(member) : "";
    if (inside !== null) return pointerTo(name) + inside;
  }
  return null;
}
