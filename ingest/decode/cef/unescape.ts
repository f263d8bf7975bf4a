const BACKSLASH = 0x5c;
const BUFFER_BYTES = 64 * 1024;

/** A range of bytes: `bytes[start, end)`. */
export interface ByteRange {
  bytes: Uint8Array;
  start: number;
  end: number;
}

export function emptyRange(): ByteRange {
  return { bytes: new Uint8Array(0), start: 0, end: 0 };
}

/** Removes escapes. What has none is not copied; what has some is written to a buffer that many messages share. */
export class CefUnescaper {
  #buffer = new Uint8Array(BUFFER_BYTES);
  #used = 0;

  /**
   * Puts `source[start, end)`, a field of a header or a value of an extension, without its escapes into `into`. It
   * stays as it is until `reset`.
   */
  read(source: Uint8Array, start: number, end: number, isValue: boolean, into: ByteRange): void {
    let at = start;
    while (at < end && source[at] !== BACKSLASH) at++;
    if (at === end) {
      into.bytes = source;
      into.start = start;
      into.end = end;
      return;
    }
    // A new buffer rather than a grown one: ranges given before still point into the old one.
    if (this.#used + end - start > this.#buffer.length) {
      this.#buffer = new Uint8Array(Math.max(BUFFER_BYTES, end - start));
      this.#used = 0;
    }
    const buffer = this.#buffer;
    let to = this.#used;
    into.start = to;
    for (at = start; at < end; at++) {
      const byte = source[at] ?? 0;
      const meant = byte === BACKSLASH && at + 1 < end ? unescaped(source[at + 1] ?? 0, isValue) : -1;
      buffer[to++] = meant < 0 ? byte : meant;
      if (meant >= 0) at++;
    }
    into.bytes = buffer;
    into.end = to;
    this.#used = to;
  }

  /** Lets the buffer be used again, for the next message. */
  reset(): void {
    this.#used = 0;
    if (this.#buffer.length > BUFFER_BYTES) this.#buffer = new Uint8Array(BUFFER_BYTES);
  }
}

/** What a byte behind a backslash stands for; -1 when the backslash is one: Windows paths are often sent as they are. */
function unescaped(byte: number, isValue: boolean): number {
  switch (byte) {
    case BACKSLASH:
    case 0x7c: // |
      return byte;
    case 0x3d: // =
      return isValue ? byte : -1;
    case 0x6e: // n
      return isValue ? 0x0a : -1;
    case 0x72: // r
      return isValue ? 0x0d : -1;
    default:
      return -1;
  }
}
