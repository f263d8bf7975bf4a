const BACKSLASH = 0x5c;
const PIPE = 0x7c;
const SPACE = 0x20;
const EQUALS = 0x3d;
const COLON = 0x3a;
const GREATER = 0x3e;
const DOT = 0x2e;
/** The last byte of a byte order mark, which some senders put in front. */
const BYTE_ORDER_MARK_END = 0xbf;
const MARK_LENGTH = "CEF:".length;
/** Digits and a dot: `0`, `1`, `26`, `0.1`. */
const VERSION_MAX_CHARS = 7;

/** The fields of a header in their order. */
export const HEADER_FIELDS = [
  "cefVersion",
  "deviceVendor",
  "deviceProduct",
  "deviceVersion",
  "deviceEventClassId",
  "name",
  "severity",
] as const;
const SEVERITY_FIELD = HEADER_FIELDS.length - 1;

/** The places of a header in the bytes of a message. Reused from message to message. */
export class CefHeader {
  readonly starts = new Int32Array(HEADER_FIELDS.length);
  readonly ends = new Int32Array(HEADER_FIELDS.length);
  /** Where the extension begins; the end of the message when there is none. */
  extensionAt = 0;

  /** Reads the header that begins at a place given by `findCef`. Answers why it cannot be read, or null. */
  read(source: Uint8Array, at: number, end: number): string | null {
    let from = at + MARK_LENGTH;
    for (let field = 0; field < HEADER_FIELDS.length; field++) {
      const pipe = endOfField(source, from, end);
      if (pipe === end && field < SEVERITY_FIELD)
        return `the CEF header has ${field + 1} of its ${HEADER_FIELDS.length} fields`;
      this.#setField(source, field, from, pipe);
      from = Math.min(pipe + 1, end);
      // The last pipe may be missing when there is no extension; some products leave the severity out instead.
      if (pipe === end && this.#isExtension(source)) from = this.starts[SEVERITY_FIELD] ?? end;
    }
    if (from < end && this.starts[SEVERITY_FIELD] === from) this.ends[SEVERITY_FIELD] = from;
    this.extensionAt = from;
    return null;
  }

  #setField(source: Uint8Array, field: number, from: number, to: number): void {
    let start = from;
    let end = to;
    while (start < end && source[start] === SPACE) start++;
    while (end > start && source[end - 1] === SPACE) end--;
    this.starts[field] = start;
    this.ends[field] = end;
  }

  #isExtension(source: Uint8Array): boolean {
    const equalsAt = source.indexOf(EQUALS, this.starts[SEVERITY_FIELD]);
    return equalsAt !== -1 && equalsAt < (this.ends[SEVERITY_FIELD] ?? 0);
  }
}

/** Where the next pipe is that is none of the field's own; the end when there is none. */
function endOfField(source: Uint8Array, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    const byte = source[at];
    if (byte === PIPE) return at;
    if (byte === BACKSLASH) at++;
  }
  return end;
}

/**
 * Where a message of CEF begins in `source[start, end)`, which may have a syslog header in front of it; -1 when there
 * is none.
 */
export function findCef(source: Uint8Array, start: number, end: number): number {
  for (let at = start; at + MARK_LENGTH < end; at++) {
    if (source[at] === 0x43 && isMark(source, at) && isFree(source, start, at) && hasVersion(source, at, end))
      return at;
  }
  return -1;
}

function isMark(source: Uint8Array, at: number): boolean {
  return source[at + 1] === 0x45 && source[at + 2] === 0x46 && source[at + 3] === COLON;
}

/** Whether the mark is not the end of another word. */
function isFree(source: Uint8Array, start: number, at: number): boolean {
  if (at === start) return true;
  const before = source[at - 1] ?? 0;
  return before <= SPACE || before === COLON || before === GREATER || before === BYTE_ORDER_MARK_END;
}

function hasVersion(source: Uint8Array, markAt: number, end: number): boolean {
  let at = markAt + MARK_LENGTH;
  if (source[at] === SPACE) at++;
  const from = at;
  while (at < end && at - from < VERSION_MAX_CHARS && isVersionByte(source[at] ?? 0)) at++;
  return at > from && source[at] === PIPE;
}

function isVersionByte(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === DOT;
}
