/** Bytes kept from one text to the next: what entries take that are not extraordinary. */
const KEEP_BYTES = 1024 * 1024;
/** A byte becomes at most this many in a JSON string: `\u001f`. */
const ESCAPED_MAX_BYTES = 6;
const TIME_BYTES = 30;
const DAY_MS = 86_400_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
/** For every byte: 1 where a JSON string cannot hold it as it is. */
const NEEDS_ESCAPE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? 1 : 0,
);

/** A text put together from UTF-8 bytes. */
export class TextBuffer {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024);
  #length = 0;
  /** The day that was written last, since 1970, as text: most entries are of one. */
  #day = Number.NaN;
  #dayText = "";

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > KEEP_BYTES) this.#bytes = Buffer.allocUnsafeSlow(KEEP_BYTES);
  }

  text(): string {
    return this.#bytes.toString("utf8", 0, this.#length);
  }

  addAscii(text: string): void {
    this.#reserve(text.length);
    const bytes = this.#bytes;
    let length = this.#length;
    for (let i = 0; i < text.length; i++) bytes[length++] = text.charCodeAt(i);
    this.#length = length;
  }

  addBytes(source: Uint8Array): void {
    this.addSlice(source, 0, source.length);
  }

  addSlice(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    const bytes = this.#bytes;
    let length = this.#length;
    // Short for the most part: a call of the runtime costs more.
    for (let i = start; i < end; i++) bytes[length++] = source[i] ?? 0;
    this.#length = length;
  }

  /** As a JSON string. */
  addString(source: Uint8Array, start: number, end: number): void {
    this.#reserve((end - start) * ESCAPED_MAX_BYTES + 2);
    const bytes = this.#bytes;
    let length = this.#length;
    bytes[length++] = QUOTE;
    for (let i = start; i < end; i++) {
      const byte = source[i] ?? 0;
      if (NEEDS_ESCAPE[byte] === 0) bytes[length++] = byte;
      else {
        const escaped = JSON.stringify(String.fromCharCode(byte));
        for (let at = 1; at < escaped.length - 1; at++) bytes[length++] = escaped.charCodeAt(at);
      }
    }
    bytes[length++] = QUOTE;
    this.#length = length;
  }

  /** ISO 8601 in UTC, with as many of 3, 6 or 9 digits of fraction as it takes; `nanos` are those beyond `millis`. */
  addTime(millis: number, nanos: number): void {
    const day = Math.floor(millis / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#dayText = new Date(day * DAY_MS).toISOString().slice(0, "2026-01-01T".length);
    }
    this.addAscii(this.#dayText);
    this.#reserve(TIME_BYTES);
    const ofDay = millis - day * DAY_MS;
    const seconds = Math.floor(ofDay / 1000);
    this.#addDigits(Math.floor(seconds / 3600), 2, 0x3a);
    this.#addDigits(Math.floor(seconds / 60) % 60, 2, 0x3a);
    this.#addDigits(seconds % 60, 2, 0x2e);
    const Z = 0x5a;
    if (nanos === 0) this.#addDigits(ofDay % 1000, 3, Z);
    else if (nanos % 1000 === 0) this.#addDigits((ofDay % 1000) * 1000 + nanos / 1000, 6, Z);
    else this.#addDigits((ofDay % 1000) * 1_000_000 + nanos, 9, Z);
  }

  /** So many digits of a number, and a character behind them. */
  #addDigits(value: number, count: number, then: number): void {
    let rest = value;
    for (let at = this.#length + count - 1; at >= this.#length; at--) {
      this.#bytes[at] = ZERO + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    this.#length += count;
    this.#bytes[this.#length++] = then;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + count));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
