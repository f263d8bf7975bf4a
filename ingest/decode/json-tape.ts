import { isUtf8 } from "node:buffer";
import { JsonScanner } from "./json-scanner.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;
/** In the place of a byte beyond the last. */
const END = -1;

/** Bytes of a large text for each token that there is room for from the start; few texts have more tokens, which make it grow. */
const BYTES_A_TOKEN = 8;
/** Tokens the tape has room for after a clear; a larger tape was made by a rare giant body and is given back. */
const KEEP_TOKENS = 1 << 18;

const WORDS = ["true", "false", "null"].map((word) => new TextEncoder().encode(word));

const NOTHING = new Uint8Array(0);
const NOTHING_VIEW = new DataView(NOTHING.buffer);

/** What a token is. Containers come last, so that one comparison tells them apart. */
export const JSON_STRING = 0;
/** A string with escapes: its bytes in the source are not its text. */
export const JSON_ESCAPED_STRING = 1;
export const JSON_NUMBER = 2;
export const JSON_TRUE = 3;
export const JSON_FALSE = 4;
export const JSON_NULL = 5;
export const JSON_OBJECT = 6;
export const JSON_ARRAY = 7;

/**
 * A whole JSON text (RFC 8259) as a list of tokens in typed arrays: what JSON.parse makes, without an object per value,
 * with every digit of a number kept, and to be walked in any order. A member of an object is two tokens, its name and
 * its value. A reader finds the token after `value` with `next`.
 */
export class JsonTape {
  source: Uint8Array = NOTHING;
  /** The same bytes, for those who compare four at a time. */
  view: DataView = NOTHING_VIEW;
  kinds = new Uint8Array(1024);
  /** Where a string's content, a number, a word or a container begins in the source. */
  starts = new Uint32Array(1024);
  /** Where it ends; for a container the number of the token after all that is in it. */
  ends = new Uint32Array(1024);
  /** Tokens that were added or are of single values; not of those of a whole text. */
  count = 0;

  /** After `readText`: the text is `textBytes[textStart, textEnd)`. */
  textBytes: Uint8Array = this.source;
  textStart = 0;
  textEnd = 0;

  readonly #maxDepth: number;
  readonly #scanner = new JsonScanner();
  /** The containers that are open, by their tokens. */
  readonly #open: Uint32Array;
  #plainEnd = 0;
  /** After `readValue`: where the value ends. */
  endAt = 0;

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
    this.#open = new Uint32Array(maxDepth);
  }

  /** Reads a text, whose value is token 0. Null when it is right, otherwise what is wrong, for people. */
  read(source: Uint8Array): string | null {
    if (!isUtf8(source)) return "is not UTF-8";
    this.clear();
    this.use(source);
    // Grown step by step it would leave as much behind as it takes; memory that is not written to is not taken.
    const room = Math.ceil(source.length / BYTES_A_TOKEN);
    if (room > KEEP_TOKENS) this.#resize(room, 0);
    // A byte order mark is no part of the text.
    const at = source[0] === 0xef && source[1] === 0xbb && source[2] === 0xbf ? 3 : 0;
    return this.#readTokens(source, at, true);
  }

  /**
   * Reads the one value that begins at a byte of the text in use, which is UTF-8, behind the tokens that are there.
   * Answers its token, -1 when it is not right; it ends at `endAt`.
   */
  readValue(at: number): number {
    const token = this.count;
    return this.#readTokens(this.source, at, false) === null ? token : -1;
  }

  /** Begins a tape that is written with `add` instead of read. */
  clear(): void {
    if (this.kinds.length > KEEP_TOKENS) this.#resize(KEEP_TOKENS, 0);
    this.count = 0;
  }

  /** Adds a token and answers its number; the text that it stands in may still be in the making. */
  add(kind: number, start: number, end: number): number {
    const token = this.count++;
    if (token === this.kinds.length) this.#resize(token * 2, token);
    this.kinds[token] = kind;
    this.starts[token] = start;
    this.ends[token] = end;
    return token;
  }

  /** Says what text the tokens are of: UTF-8. */
  use(source: Uint8Array): void {
    this.source = source;
    this.view = new DataView(source.buffer, source.byteOffset, source.byteLength);
    this.#scanner.reset(source);
  }

  /** Lets go of the text, which may be large; what was read counts no longer. */
  release(): void {
    this.source = NOTHING;
    this.view = NOTHING_VIEW;
    this.textBytes = NOTHING;
    this.#scanner.reset(NOTHING);
  }

  /** The token after a value. */
  next(value: number): number {
    return (this.kinds[value] ?? 0) >= JSON_OBJECT ? (this.ends[value] ?? 0) : value + 1;
  }

  /** Points `textBytes` at the text of a plain value, valid until the next call. */
  readText(plain: number): void {
    const start = this.starts[plain] ?? 0;
    if (this.kinds[plain] !== JSON_ESCAPED_STRING) {
      this.textBytes = this.source;
      this.textStart = start;
      this.textEnd = this.ends[plain] ?? 0;
      return;
    }
    const scanner = this.#scanner;
    scanner.at = start - 1;
    scanner.readString();
    this.textBytes = scanner.stringBytes;
    this.textStart = scanner.stringStart;
    this.textEnd = scanner.stringEnd;
  }

  /**
   * Reads the whole text: one loop without recursion, whose state is in local variables because this is where the time
   * goes. Each round reads a name or a value and then what may follow it.
   */
  #readTokens(source: Uint8Array, from: number, isWhole: boolean): string | null {
    const { view } = this;
    const open = this.#open;
    const length = source.length;
    const lastWord = length - 4;
    let { kinds, starts, ends } = this;
    let token = this.count;
    let depth = 0;
    let isInObject = false;
    let isName = false;
    let at = from;
    for (;;) {
      let c = source[at] ?? END;
      while (c === SPACE || c === 0x0a || c === 0x0d || c === 0x09) c = source[++at] ?? END;
      if (token === kinds.length) {
        this.#resize(token * 2, token);
        ({ kinds, starts, ends } = this);
      }
      if (c === QUOTE) {
        const start = at + 1;
        at = start;
        while (at <= lastWord && !endsPlainText(view.getInt32(at, true))) at += 4;
        for (c = source[at] ?? END; c !== QUOTE && c !== BACKSLASH && c >= SPACE; c = source[at] ?? END) at++;
        let kind = JSON_STRING;
        if (c !== QUOTE) {
          kind = JSON_ESCAPED_STRING;
          this.#scanner.at = start - 1;
          const isString = this.#scanner.readString();
          at = this.#scanner.at - 1;
          if (!isString) return notJson(source, at + 1);
        }
        kinds[token] = kind;
        starts[token] = start;
        ends[token++] = at++;
        if (isName) {
          c = source[at] ?? END;
          while (c === SPACE || c === 0x0a || c === 0x0d || c === 0x09) c = source[++at] ?? END;
          if (c !== COLON) return notJson(source, at);
          at++;
          isName = false;
          continue;
        }
      } else if (isName) {
        return notJson(source, at);
      } else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
        if (depth === this.#maxDepth) return `nests deeper than ${this.#maxDepth} levels`;
        isInObject = c === OPEN_BRACE;
        kinds[token] = isInObject ? JSON_OBJECT : JSON_ARRAY;
        starts[token] = at;
        open[depth++] = token++;
        at++;
        c = source[at] ?? END;
        while (c === SPACE || c === 0x0a || c === 0x0d || c === 0x09) c = source[++at] ?? END;
        if (c !== (isInObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
          isName = isInObject;
          continue;
        }
      } else {
        const kind = this.#readPlain(c, at);
        if (kind < 0) return notJson(source, this.#plainEnd);
        kinds[token] = kind;
        starts[token] = at;
        at = this.#plainEnd;
        ends[token++] = at;
      }
      // A value has ended, and with it perhaps containers around it.
      for (;;) {
        if (depth === 0 && !isWhole) {
          this.count = token;
          this.endAt = at;
          return null;
        }
        c = source[at] ?? END;
        while (c === SPACE || c === 0x0a || c === 0x0d || c === 0x09) c = source[++at] ?? END;
        if (depth === 0) return c === END ? null : notJson(source, at);
        if (c === COMMA) {
          at++;
          isName = isInObject;
          break;
        }
        if (c !== (isInObject ? CLOSE_BRACE : CLOSE_BRACKET)) return notJson(source, at);
        at++;
        ends[open[--depth] ?? 0] = token;
        isInObject = depth > 0 && kinds[open[depth - 1] ?? 0] === JSON_OBJECT;
      }
    }
  }

  /** Reads a number or a word and answers its kind, -1 when it is neither; it ends, or fails, at `#plainEnd`. */
  #readPlain(c: number, start: number): number {
    const { source } = this;
    if (c === MINUS || (c >= 0x30 && c <= 0x39)) {
      // Most numbers are a digit or a few, which need no second look.
      let at = start + 1;
      if (c > 0x30) {
        let next = source[at] ?? END;
        while (next >= 0x30 && next <= 0x39) next = source[++at] ?? END;
        this.#plainEnd = at;
        if (next === COMMA || next === CLOSE_BRACE || next === CLOSE_BRACKET) return JSON_NUMBER;
      }
      const scanner = this.#scanner;
      scanner.at = start;
      const isNumber = scanner.readNumber();
      this.#plainEnd = scanner.at;
      return isNumber ? JSON_NUMBER : -1;
    }
    this.#plainEnd = start;
    for (let i = 0; i < WORDS.length; i++) {
      const word = WORDS[i];
      if (word === undefined || word[0] !== c) continue;
      for (let k = 0; k < word.length; k++) if (source[start + k] !== word[k]) return -1;
      this.#plainEnd = start + word.length;
      return JSON_TRUE + i;
    }
    return -1;
  }

  #resize(room: number, kept: number): void {
    const kinds = new Uint8Array(room);
    const starts = new Uint32Array(room);
    const ends = new Uint32Array(room);
    kinds.set(this.kinds.subarray(0, kept));
    starts.set(this.starts.subarray(0, kept));
    ends.set(this.ends.subarray(0, kept));
    this.kinds = kinds;
    this.starts = starts;
    this.ends = ends;
  }
}

function notJson(source: Uint8Array, at: number): string {
  return source.length === 0 ? "is empty" : `is not valid JSON at byte ${at}`;
}

/**
 * Whether one of four bytes is a quote, a backslash or a control character, each found as the byte that becomes
 * negative when one is taken from zero or when a space is taken from less.
 */
function endsPlainText(word: number): boolean {
  const quote = word ^ 0x22222222;
  const backslash = word ^ 0x5c5c5c5c;
  const found =
    ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash) | ((word - 0x20202020) & ~word);
  return (found & 0x80808080) !== 0;
}
