const ELLIPSIS = "\u2026";
/** A character on the screen may be many code units; so many for each column are looked at, the rest is out of sight. */
const UNITS_PER_COLUMN_MAX = 16;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Columns that a text without control characters takes on a terminal: East Asian wide characters and emoji take two. */
export function textWidth(text: string): number {
  return PRINTABLE_ASCII.test(text) ? text.length : Bun.stringWidth(text);
}

/** The text, or as much of it from the beginning as fits before an ellipsis; never part of a character. */
export function cutToWidth(text: string, width: number): string {
  if (text.length <= width && PRINTABLE_ASCII.test(text)) return text;
  if (width <= 0) return "";
  const isLong = text.length > width * UNITS_PER_COLUMN_MAX;
  if (!isLong && textWidth(text) <= width) return text;
  const looked = isLong ? text.slice(0, width * UNITS_PER_COLUMN_MAX) : text;
  let shown = "";
  let used = 0;
  for (const { segment } of graphemes.segment(looked)) {
    used += textWidth(segment);
    if (used > width - 1) break;
    shown += segment;
  }
  return shown + ELLIPSIS;
}

/** The text filled up with blanks to `width` columns. */
export function padToWidth(text: string, width: number, align: "left" | "right"): string {
  const blanks = " ".repeat(Math.max(0, width - textWidth(text)));
  return align === "left" ? text + blanks : blanks + text;
}
