import { basename } from "node:path";
import { isRecord, type JsonRecord } from "../../api/json.ts";
import { ATTRIBUTES_SHOWN_MAX_CHARS } from "../limits.ts";
import type { Colors } from "../terminal/colors.ts";
import { escapeControls, escapeControlsInLines } from "../terminal/escape-controls.ts";

const LEVEL_WIDTH = 5;
const INDENT = "    ";

/** Marks in a message that is safe on a terminal what was looked for. */
type MarkWords = (message: string) => string;

/**
 * An entry for a person: time, level, service, message and attributes; nothing in it can command a terminal. A message of
 * several lines stays one, unless it is to be on a single line.
 */
export function formatEntry(
  entry: JsonRecord,
  colors: Colors,
  { mark, singleLine = false }: { mark?: MarkWords; singleLine?: boolean } = {},
): string {
  const level = textOf(entry.level);
  const message = textOf(entry.message);
  const shown = singleLine ? escapeControls(message) : escapeControlsInLines(message, INDENT);
  const columns = [
    colors.dim(escapeControls(textOf(entry.ts))),
    colors.level(level, escapeControls(level).padEnd(LEVEL_WIDTH)),
    escapeControls(nameOf(entry)),
    mark === undefined ? shown : mark(shown),
  ];
  const attributes = isRecord(entry.attrs) ? formatAttributes(entry.attrs) : "";
  if (attributes !== "") columns.push(colors.dim(attributes));
  return columns.join(" ");
}

/** Where it is from: its service, else its host, else the file that it was in. */
function nameOf({ service, host, source }: JsonRecord): string {
  return textOf(service) || textOf(host) || basename(textOf(source)) || "-";
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
