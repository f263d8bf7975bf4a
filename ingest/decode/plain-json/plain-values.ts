import { JSON_MAX_DEPTH } from "../../limits.ts";
import { ByteBuffer } from "../../native/byte-buffer.ts";
import { tryParseJson } from "../json-body.ts";
import { JsonScanner } from "../json-scanner.ts";
import { JSON_NUMBER, type JsonTape } from "../json-tape.ts";

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** Decimal digits that a double always keeps. */
const SAFE_DIGITS = 15;
/** Zeros behind the point with which a number is written without an exponent. */
const PLAIN_MAX_ZEROS = 5;

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Values of a tape as JSON.parse makes them, for what is too rare to be read from the bytes. */
export class PlainValues {
  readonly #tape: JsonTape;
  readonly #scanner = new JsonScanner();
  readonly #copy = new ByteBuffer(1024);

  constructor(tape: JsonTape) {
    this.#tape = tape;
  }

  /** The value of a token. */
  parse(token: number): unknown {
    const tape = this.#tape;
    const isText = (tape.kinds[token] ?? 0) < JSON_NUMBER;
    const scanner = this.#scanner;
    scanner.reset(tape.source);
    scanner.at = (tape.starts[token] ?? 0) - (isText ? 1 : 0);
    this.#copy.clear();
    const isCopied = scanner.copyValue(this.#copy);
    const parsed = tryParseJson(utf8.decode(this.#copy.view()), JSON_MAX_DEPTH);
    if (!isCopied || !parsed.ok) throw new Error("the parser refuses what the tape holds");
    return parsed.value;
  }

  /** Whether a number is written as it is written again once it was parsed; not of every such number. */
  isPlainNumber(token: number): boolean {
    const { kinds, source, starts, ends } = this.#tape;
    if (kinds[token] !== JSON_NUMBER) return false;
    const end = ends[token] ?? 0;
    const signed = starts[token] ?? 0;
    const start = source[signed] === MINUS ? signed + 1 : signed;
    const wholeEnd = digitsEnd(source, start, end);
    const isZero = source[start] === ZERO;
    if (wholeEnd === end) return end - start <= SAFE_DIGITS && (!isZero || signed === start);
    if (source[wholeEnd] !== POINT || end - start - 1 > SAFE_DIGITS) return false;
    const last = source[end - 1] ?? 0;
    if (digitsEnd(source, wholeEnd + 1, end) !== end || last === ZERO) return false;
    if (!isZero) return true;
    let first = wholeEnd + 1;
    while (source[first] === ZERO) first++;
    return first - wholeEnd - 1 <= PLAIN_MAX_ZEROS;
  }
}

function digitsEnd(source: Uint8Array, from: number, end: number): number {
  let at = from;
  for (let c = source[at] ?? 0; at < end && c >= ZERO && c <= NINE; c = source[at] ?? 0) at++;
  return at;
}
