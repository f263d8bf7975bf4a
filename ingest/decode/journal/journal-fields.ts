const LINE_FEED = 0x0a;
const EQUALS = 0x3d;
/** A binary value stands behind its length, a little-endian number of 64 bits. */
const LENGTH_BYTES = 8;

/** What stands at a place of the journal's export format. */
const FIELD = 0;
/** A blank line. */
export const END_OF_ENTRY = 1;
/** A field of which some bytes are not there yet. */
export const CUT_OFF = 2;

/**
 * Reads the fields of systemd's journal export format one after the other: a line `NAME=value`, or for a value of any
 * bytes a line `NAME`, its length, the value and a line feed. Source: systemd, "Journal Export Formats".
 */
export class JournalFields {
  /** After a FIELD: `name` is `[nameStart, nameEnd)`, its value `[start, stop)`; the next one begins at `at`. */
  nameStart = 0;
  nameEnd = 0;
  start = 0;
  stop = 0;
  at = 0;

  /** Reads what stands at `at` in `bytes[0, end)`, of which it moves behind unless that is cut off. */
  next(bytes: Uint8Array, end: number): number {
    const from = this.at;
    if (bytes[from] === LINE_FEED && from < end) {
      this.at = from + 1;
      return END_OF_ENTRY;
    }
    let nameEnd = from;
    while (nameEnd < end && bytes[nameEnd] !== EQUALS && bytes[nameEnd] !== LINE_FEED) nameEnd++;
    if (nameEnd >= end) return CUT_OFF;
    const isText = bytes[nameEnd] === EQUALS;
    const start = isText ? nameEnd + 1 : nameEnd + 1 + LENGTH_BYTES;
    if (start > end) return CUT_OFF;
    const stop = isText ? bytes.indexOf(LINE_FEED, start) : start + lengthAt(bytes, nameEnd + 1);
    if (stop < 0 || stop >= end) return CUT_OFF;
    this.nameStart = from;
    this.nameEnd = nameEnd;
    this.start = start;
    this.stop = stop;
    this.at = stop + 1;
    return FIELD;
  }
}

/** Lengths beyond what a number holds exactly are beyond any body. */
function lengthAt(bytes: Uint8Array, at: number): number {
  let length = 0;
  for (let i = LENGTH_BYTES - 1; i >= 0; i--) length = length * 256 + (bytes[at + i] ?? 0);
  return length;
}
