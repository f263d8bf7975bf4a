import type { JsonRecord } from "../../api/json.ts";
import { escapeControlsInJson } from "./escape-controls.ts";

/** A record as JSON on one line; on a terminal, with nothing in it that the terminal would obey. */
export function jsonText(record: JsonRecord, { isTerminal }: { readonly isTerminal: boolean }): string {
  const text = JSON.stringify(record);
  return isTerminal ? escapeControlsInJson(text) : text;
}
