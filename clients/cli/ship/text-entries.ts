import { MESSAGE_MAX_CHARS } from "../limits.ts";
import { endOfCodePoints } from "./code-points.ts";
import type { ShippedEntry } from "./entry-session.ts";
import type { EntryText } from "./entry-text.ts";
import type { LineSplitter } from "./line-splitter.ts";
import { decodeText } from "./line-text.ts";
import { type Position, positionAfter } from "./position.ts";
import type { WrittenEntry } from "./written-entry.ts";

/** A line that is an entry of the API. */
export function nativeLine(entry: WrittenEntry, after: Readonly<Position>): ShippedEntry {
  return {
    ...entry,
    after,
    lines: 1,
    kind: "native",
    isRecognised: false,
    invalidUtf8: false,
    timesWithoutZone: 0,
  };
}

/** The text of a piece as messages; `before` is the place before it. */
export function textsOf(
  piece: LineSplitter,
  before: Readonly<Position>,
  entryText: EntryText,
): ShippedEntry[] {
  const entries: ShippedEntry[] = [];
  const isRecognised = false;
  const timesWithoutZone = 0;
  let position = before;
  for (let at = piece.start; at < piece.end; ) {
    const cut = endOfCodePoints(piece.bytes, at, piece.end, MESSAGE_MAX_CHARS);
    const { text, invalidUtf8 } = decodeText(piece.bytes.subarray(at, cut));
    at = cut;
    const after = positionAfter(piece, position, cut);
    const isLast = after.part === 0;
    const isLine = isLast && position.part === 0;
    const part = position.part + 1;
    const written = isLine
      ? entryText.ofText(text)
      : entryText.ofText(text, { line: piece.lineStart, part, last: isLast });
    const kind = isLine ? "line" : part === 1 ? "first part" : "later part";
    const { text: json, timeMs, level, service, source } = written;
    // Member by member: most lines come here.
    entries.push({
      text: json,
      after,
      lines: isLast ? 1 : 0,
      kind,
      isRecognised,
      invalidUtf8,
      timeMs,
      level,
      service,
      source,
      timesWithoutZone,
    });
    position = after;
  }
  return entries;
}
