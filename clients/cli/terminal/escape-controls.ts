/**
 * Controls of C0 and C1, DEL, and the marks that reorder text: what a terminal would obey instead of show. Tab is left
 * alone, and so are the joiners that scripts and emoji need.
 */
const TERMINAL_CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\r\n]/g;

/** Text for one line of a terminal: every control character is written as `\xNN` or `\uNNNN`, a line break as `\n`. */
export function escapeControls(text: string): string {
  return text.replace(TERMINAL_CONTROLS, visible);
}

/** The same for a cell of a table: a tab would move what stands right of it. */
export function escapeControlsInCell(text: string): string {
  return escapeControls(text).replaceAll("\t", "\\t");
}

/** Text for a terminal over several lines: a line break becomes one with `indent` after it, so it cannot fake an entry. */
export function escapeControlsInLines(text: string, indent: string): string {
  return text.split(/\r?\n/).map(escapeControls).join(`\n${indent}`);
}

/**
 * JSON text that is safe on a terminal and parses to the same value: JSON.stringify escapes C0 itself; what it leaves
 * and a terminal would obey is escaped here.
 */
export function escapeControlsInJson(json: string): string {
  return json.replace(TERMINAL_CONTROLS, (c) => `\\u${hex(c, 4)}`);
}

function visible(c: string): string {
  if (c === "\n") return "\\n";
  if (c === "\r") return "\\r";
  const code = c.charCodeAt(0);
  return code < 0x100 ? `\\x${hex(c, 2)}` : `\\u${hex(c, 4)}`;
}

function hex(c: string, width: number): string {
  return c.charCodeAt(0).toString(16).padStart(width, "0");
}
