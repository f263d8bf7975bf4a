import type { JsonRecord } from "../../api/json.ts";
import type { Colors } from "../terminal/colors.ts";
import { escapeControls, escapeControlsInLines } from "../terminal/escape-controls.ts";

const LEVEL_WIDTH = 5;
const INDENT = "    ";

/** An entry for a person: time, level, service and message; nothing in it can command a terminal. */
export function formatEntry(entry: JsonRecord, colors: Colors): string {
  const level = typeof entry.level === "string" ? entry.level : "";
  const columns = [
    colors.dim(text(entry.ts)),
    colors.level(level, escapeControls(level).padEnd(LEVEL_WIDTH)),
    text(entry.service) || text(entry.host) || "-",
    escapeControlsInLines(typeof entry.message === "string" ? entry.message : "", INDENT),
  ];
  return columns.join(" ");
}

function text(value: unknown): string {
  return typeof value === "string" ? escapeControls(value) : "";
}
