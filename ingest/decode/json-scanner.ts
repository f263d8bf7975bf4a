import { JSON_MAX_DEPTH } from "../limits.ts";
import { ByteBuffer } from "../native/byte-buffer.ts";
import { utf8SequenceLength, writeUtf8 } from "./utf8.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** What a one-letter escape stands for, by its letter; 0 where there is no such escape. */
const SIMPLE_ESCAPES = new Uint8Array(128);
for (const [letter, char] of [
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
] as const)
  SIMPLE_ESCAPES[letter.charCodeAt(0)] = char.charCodeAt(0);

/**
 * A strict JSON reader over UTF-8 bytes (RFC 8259) that builds no values: it points at strings where they lie, so that
 * a decoder can move them into columns without ever making a JavaScript string. Every method starts at `at` and leaves
 * `at` behind what it read; on a violation it returns false and `at` is the offending byte.
 */
export class JsonScanner {
  source: Uint8Array = new Uint8Array(0);
  at = 0;
  #end = 0;

  /** After `readString`: its content is `stringBytes[stringStart, stringEnd)`, `stringChars` code points long. */
  stringBytes: Uint8Array = this.source;
  stringStart = 0;
  stringEnd = 0;
  stringChars = 0;

  /** Holds the last string that had escapes. */
  readonly #unescaped = new ByteBuffer(1024);

  reset(source: Uint8Array): void {
    this.source = source;
    this.at = 0;
    this.#end = source.length;
  }

  /** Skips white space and returns the byte there, or -1 at the end. */
  peek(): number {
    const source = this.source;
    let at = this.at;
    while (at < this.#end) {
      const c = source[at] ?? 0;
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) {
        this.at = at;
        return c;
      }
      at++;
    }
    this.at = at;
    return -1;
  }

  /** Skips white space and the given byte; false when another byte is there. */
  take(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.at++;
    return true;
  }

  /** Reads a string; `at` must be at its opening quote. */
  readString(): boolean {
    const source = this.source;
    const end = this.#end;
    const start = this.at + 1;
    let at = start;
    while (at < end) {
      const c = source[at] ?? 0;
      if (c === QUOTE) {
        this.stringBytes = source;
        this.stringStart = start;
        this.stringEnd = at;
        this.stringChars = at - start;
        this.at = at + 1;
        return true;
      }
      if (c < 0x20 || c === BACKSLASH || c >= 0x80) break;
      at++;
    }
    return this.#readUncommonString(start, at);
  }

  /** The rest of a string from the first byte that is not plain ASCII. */
  #readUncommonString(start: number, from: number): boolean {
    const source = this.source;
    const end = this.#end;
    const unescaped = this.#unescaped;
    let copiedTo = start;
    let chars = from - start;
    let escaped = false;
    let at = from;
    while (at < end) {
      const c = source[at] ?? 0;
      if (c === QUOTE) {
        this.at = at + 1;
        this.stringChars = chars;
        if (escaped) {
          unescaped.writeSlice(source, copiedTo, at);
          this.stringBytes = unescaped.bytes;
          this.stringStart = 0;
          this.stringEnd = unescaped.length;
        } else {
          this.stringBytes = source;
          this.stringStart = start;
          this.stringEnd = at;
        }
        return true;
      }
      if (c === BACKSLASH) {
        if (!escaped) {
          unescaped.clear();
          escaped = true;
        }
        unescaped.writeSlice(source, copiedTo, at);
        this.at = at;
        const written = this.#readEscape();
        if (written === 0) return false;
        chars++;
        at = this.at;
        copiedTo = at;
      } else if (c < 0x20) {
        break;
      } else if (c < 0x80) {
        chars++;
        at++;
      } else {
        const length = utf8SequenceLength(source, at, end);
        if (length === 0) break;
        chars++;
        at += length;
      }
    }
    this.at = at;
    return false;
  }

  /** Appends what the escape at `at` stands for; returns the bytes written, 0 for an invalid escape. */
  #readEscape(): number {
    const letter = this.source[this.at + 1] ?? 0;
    if (letter !== 0x75) {
      const char = letter < 128 ? (SIMPLE_ESCAPES[letter] ?? 0) : 0;
      if (char === 0 || this.at + 1 >= this.#end) return 0;
      this.#unescaped.writeByte(char);
      this.at += 2;
      return 1;
    }
    let code = this.#readHex(this.at + 2);
    if (code < 0) return 0;
    this.at += 6;
    if (code >= 0xd800 && code <= 0xdfff) {
      const low =
        code < 0xdc00 && this.source[this.at] === BACKSLASH && this.source[this.at + 1] === 0x75
          ? this.#readHex(this.at + 2)
          : -1;
      if (low >= 0xdc00 && low <= 0xdfff) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        this.at += 6;
      } else {
        // Half a surrogate pair has no UTF-8 form; every encoder writes the replacement character.
        code = 0xfffd;
      }
    }
    return writeUtf8(this.#unescaped, code);
  }

  /** Four hexadecimal digits as a number, or -1. */
  #readHex(from: number): number {
    if (from + 4 > this.#end) return -1;
    let code = 0;
    for (let i = from; i < from + 4; i++) {
      const digit = hexDigit(this.source[i] ?? 0);
      if (digit < 0) return -1;
      code = code * 16 + digit;
    }
    return code;
  }

  /** Reads a number and returns true; `at` must be at its first byte. */
  readNumber(): boolean {
    const source = this.source;
    let at = this.at;
    if (source[at] === 0x2d) at++;
    const integerStart = at;
    at = this.#digitsEnd(at);
    const integerDigits = at - integerStart;
    if (integerDigits === 0 || (integerDigits > 1 && source[integerStart] === 0x30)) return this.#failAt(at);
    if (at < this.#end && source[at] === 0x2e) {
      const fractionStart = ++at;
      at = this.#digitsEnd(at);
      if (at === fractionStart) return this.#failAt(at);
    }
    if (at < this.#end && (source[at] === 0x65 || source[at] === 0x45)) {
      at++;
      if (source[at] === 0x2b || source[at] === 0x2d) at++;
      const exponentStart = at;
      at = this.#digitsEnd(at);
      if (at === exponentStart) return this.#failAt(at);
    }
    this.at = at;
    return true;
  }

  #digitsEnd(from: number): number {
    let at = from;
    for (let c = this.source[at] ?? 0; at < this.#end && c >= 0x30 && c <= 0x39; c = this.source[at] ?? 0)
      at++;
    return at;
  }

  #failAt(at: number): false {
    this.at = at;
    return false;
  }

  /**
   * Reads any value and appends its text to `out` without the white space around its parts. Numbers and strings are
   * kept as they are written, so nothing is lost to a conversion.
   */
  copyValue(out: ByteBuffer, depth = 0): boolean {
    const c = this.peek();
    const start = this.at;
    switch (c) {
      case QUOTE:
        if (!this.readString()) return false;
        break;
      case OPEN_BRACE:
        return this.#copyContainer(out, depth, OPEN_BRACE, CLOSE_BRACE);
      case OPEN_BRACKET:
        return this.#copyContainer(out, depth, OPEN_BRACKET, CLOSE_BRACKET);
      case 0x74:
        if (!this.#readWord("true")) return false;
        break;
      case 0x66:
        if (!this.#readWord("false")) return false;
        break;
      case 0x6e:
        if (!this.#readWord("null")) return false;
        break;
      default:
        if (c === -1 || !this.readNumber()) return false;
    }
    out.writeSlice(this.source, start, this.at);
    return true;
  }

  #copyContainer(out: ByteBuffer, depth: number, open: number, close: number): boolean {
    if (depth >= JSON_MAX_DEPTH) return false;
    out.writeByte(open);
    this.at++;
    if (this.take(close)) {
      out.writeByte(close);
      return true;
    }
    for (;;) {
      if (open === OPEN_BRACE) {
        if (this.peek() !== QUOTE) return false;
        const keyStart = this.at;
        if (!this.readString()) return false;
        out.writeSlice(this.source, keyStart, this.at);
        if (!this.take(COLON)) return false;
        out.writeByte(COLON);
      }
      if (!this.copyValue(out, depth + 1)) return false;
      const next = this.peek();
      if (next !== COMMA && next !== close) return false;
      out.writeByte(next);
      this.at++;
      if (next === close) return true;
    }
  }

  #readWord(word: string): boolean {
    for (let i = 0; i < word.length; i++)
      if (this.source[this.at + i] !== word.charCodeAt(i)) return this.#failAt(this.at + i);
    this.at += word.length;
    return true;
  }
}

function hexDigit(c: number): number {
  if (c >= 0x30 && c <= 0x39) return c - 0x30;
  const lower = c | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
