import { ByteBuffer } from "../../native/byte-buffer.ts";
import { decodeLenient } from "../lenient-text.ts";
import { utf8SequenceLength } from "../utf8.ts";

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const SPACE = 0x20;
const BILLION = 1e9;
const NANO_DIGITS = 9;
const HALF_WORD = 0x10000;
const HEX_DIGITS = new TextEncoder().encode("0123456789abcdef");
/** Memory kept between requests. */
const KEEP_BYTES = 1024 * 1024;

/**
 * The text that the tokens of a protobuf message stand in: names, the message itself, whose strings are as they are, and
 * behind it everything that JSON writes otherwise than protobuf. Each method answers where what it wrote begins; it ends
 * at `length`.
 */
export class ProtobufText {
  readonly #bytes = new ByteBuffer(64 * 1024);

  get length(): number {
    return this.#bytes.length;
  }

  /** Begins with these names, and the message behind them. */
  open(names: Uint8Array, message: Uint8Array): void {
    this.#bytes.shrink(KEEP_BYTES);
    this.#bytes.clear();
    this.#bytes.writeBytes(names);
    this.#bytes.writeBytes(message);
  }

  view(): Uint8Array {
    return this.#bytes.view();
  }

  /** An unsigned number of 64 bits. */
  unsigned(low: number, high: number): number {
    const start = this.length;
    if (high === 0) {
      this.#decimal(low, 1);
      return start;
    }
    // Divided by half words, because no double holds it whole.
    const upper = (high % BILLION) * HALF_WORD + (low >>> 16);
    const lower = (upper % BILLION) * HALF_WORD + (low & 0xffff);
    const billions =
      (Math.floor(high / BILLION) * HALF_WORD + Math.floor(upper / BILLION)) * HALF_WORD +
      Math.floor(lower / BILLION);
    this.#decimal(billions, 1);
    this.#decimal(lower % BILLION, NANO_DIGITS);
    return start;
  }

  /** A signed number of 64 bits. */
  signed(low: number, high: number): number {
    if (high < 0x8000_0000) return this.unsigned(low, high);
    const start = this.length;
    this.#bytes.writeByte(0x2d);
    const negatedLow = (~low + 1) >>> 0;
    const negatedHigh = (~high + (negatedLow === 0 ? 1 : 0)) >>> 0;
    this.unsigned(negatedLow, negatedHigh);
    return start;
  }

  ascii(text: string): number {
    const start = this.length;
    const bytes = this.#bytes;
    bytes.reserve(text.length);
    for (let i = 0; i < text.length; i++) bytes.bytes[bytes.length++] = text.charCodeAt(i);
    return start;
  }

  hex(source: Uint8Array, from: number, to: number): number {
    const start = this.length;
    const bytes = this.#bytes;
    bytes.reserve(2 * (to - from));
    for (let i = from; i < to; i++) {
      const byte = source[i] ?? 0;
      bytes.bytes[bytes.length++] = HEX_DIGITS[byte >> 4] ?? 0;
      bytes.bytes[bytes.length++] = HEX_DIGITS[byte & 15] ?? 0;
    }
    return start;
  }

  base64(source: Uint8Array, from: number, to: number): number {
    return this.ascii(Buffer.from(source.subarray(from, to)).toString("base64"));
  }

  /** A string that is not UTF-8, as it can be read. */
  readable(source: Uint8Array, from: number, to: number): number {
    const start = this.length;
    this.#bytes.writeBytes(new TextEncoder().encode(decodeLenient(source, from, to)));
    return start;
  }

  /** What is written from `start` on, as it stands within a JSON string. */
  escapeFrom(start: number): number {
    const text = this.#bytes.bytes.slice(start, this.length);
    this.#bytes.length = start;
    return this.escaped(text, 0, text.length);
  }

  /** A string as it stands in quotes in JSON; the answer is behind the quote, which is one of it. */
  escaped(source: Uint8Array, from: number, to: number): number {
    const bytes = this.#bytes;
    bytes.writeByte(QUOTE);
    const start = this.length;
    for (let i = from; i < to; i++) {
      const byte = source[i] ?? 0;
      if (byte === QUOTE || byte === BACKSLASH) bytes.writeByte(BACKSLASH);
      if (byte >= SPACE) bytes.writeByte(byte);
      else this.ascii(JSON.stringify(String.fromCharCode(byte)).slice(1, -1));
    }
    return start;
  }

  /** Ends what `escaped` wrote, with a quote that is no part of it, and answers its end. */
  endEscaped(): number {
    const end = this.length;
    this.#bytes.writeByte(QUOTE);
    return end;
  }

  /** Writes a whole number of at least so many digits. */
  #decimal(value: number, minDigits: number): void {
    const bytes = this.#bytes;
    let count = 1;
    for (let bound = 10; value >= bound; bound *= 10) count++;
    if (count < minDigits) count = minDigits;
    bytes.reserve(count);
    const target = bytes.bytes;
    let at = bytes.length + count;
    bytes.length = at;
    let rest = value;
    while (count-- > 0) {
      const next = Math.floor(rest / 10);
      target[--at] = 0x30 + (rest - next * 10);
      rest = next;
    }
  }
}

/** A string that JSON writes as it is. */
const PLAIN_TEXT = 0;
/** One with characters that JSON escapes. */
export const ESCAPED_TEXT = 1;
/** One that is not UTF-8. */
export const NO_TEXT = 2;

/** What a string is. `view` is of the same bytes. */
export function textKind(source: Uint8Array, view: DataView, start: number, end: number): number {
  let kind = PLAIN_TEXT;
  let at = start;
  while (at < end) {
    if (at + 4 <= end && isPlainWord(view.getInt32(at, true))) {
      at += 4;
      continue;
    }
    const byte = source[at] ?? 0;
    const length = byte < 0x80 ? 1 : utf8SequenceLength(source, at, end);
    if (length === 0) return NO_TEXT;
    if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) kind = ESCAPED_TEXT;
    at += length;
  }
  return kind;
}

/** Whether four bytes are ASCII without a quote, a backslash or a control character. */
function isPlainWord(word: number): boolean {
  const quote = word ^ 0x22222222;
  const backslash = word ^ 0x5c5c5c5c;
  const found = ((quote - 0x01010101) | (backslash - 0x01010101) | (word - 0x20202020) | word) & 0x80808080;
  return found === 0;
}
