import type { JsonObject } from "../json-body.ts";

/** A name and the quoted text behind it, as `strconv.Quote` of Go writes it. */
const LABEL = /\s*([^\s=,{}"]+)\s*=\s*"([^"\\]*(?:\\.[^"\\]*)*)"\s*(,|$)/suy;
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/gsu;
/** Longer ones are taken as they are: no stream has them, and every entry would repeat them. */
const LABELS_MAX_CHARS = 64 * 1024;
const CODE_POINT_MAX = 0x10_ffff;
const NAMED: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** The labels of a stream that are written as a selector, such as `{app="shop", level="info"}`; null for another text. */
export function parseLabels(text: string): JsonObject | null {
  if (text.length > LABELS_MAX_CHARS) return null;
  const trimmed = text.trim();
  if (!trimmed.startsWith("{") || !trimmed.endsWith("}")) return null;
  const inner = trimmed.slice(1, -1).trim();
  const labels = new Map<string, string>();
  let at = 0;
  while (at < inner.length) {
    LABEL.lastIndex = at;
    const [whole, name, value] = LABEL.exec(inner) ?? [];
    if (whole === undefined || name === undefined || value === undefined) return null;
    labels.set(name, unquoted(value));
    at += whole.length;
  }
  return Object.fromEntries(labels);
}

function unquoted(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(ESCAPE, (whole: string, ...groups: readonly (string | undefined)[]) => {
    const [byte, short, long, octal, named = ""] = groups;
    const hexadecimal = byte ?? short ?? long;
    const code =
      hexadecimal !== undefined ? Number.parseInt(hexadecimal, 16) : octal && Number.parseInt(octal, 8);
    if (typeof code === "number") return code <= CODE_POINT_MAX ? String.fromCodePoint(code) : whole;
    return NAMED[named] ?? named;
  });
}
