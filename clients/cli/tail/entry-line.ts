import { isRecord, type JsonRecord } from "../../api/json.ts";
import { ATTRIBUTES_SHOWN_MAX_CHARS } from "../limits.ts";
import type { Colors } from "../terminal/colors.ts";
import { escapeControls } from "../terminal/escape-controls.ts";

const LEVEL_WIDTH = 5;

/** An entry on one line: time, level, service, message and attributes; nothing in it can command a terminal. */
export function formatEntryLine(entry: JsonRecord, colors: Colors): string {
  const level = textOf(entry.level);
  const columns = [
    colors.dim(escapeControls(textOf(entry.ts))),
    colors.level(level, escapeControls(level).padEnd(LEVEL_WIDTH)),
    escapeControls(textOf(entry.service) || textOf(entry.host) || "-"),
    escapeControls(textOf(entry.message)),
  ];
  const attributes = isRecord(entry.attrs) ? formatAttributes(entry.attrs) : "";
  if (attributes !== "") columns.push(colors.dim(attributes));
  return columns.join(" ");
}

function formatAttributes(attributes: JsonRecord): string {
  let text = "";
  for (const [key, value] of Object.entries(attributes)) {
    text += `${text === "" ? "" : " "}${wordOrJson(key)}=${wordOrJson(value)}`;
    if (text.length > ATTRIBUTES_SHOWN_MAX_CHARS)
      return `${escapeControls(text.slice(0, ATTRIBUTES_SHOWN_MAX_CHARS))}\u2026`;
  }
  return escapeControls(text);
}

/** A text that reads as one word as it is, anything else as JSON. */
function wordOrJson(value: unknown): string {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
