import { RecordWriter } from "../../record/record-writer.ts";
import { JSON_ESCAPED_STRING, type JsonTape } from "../json-tape.ts";
import { PLAIN, TEXT } from "./any-values.ts";
import type { AttributeOutput } from "./attribute-output.ts";

const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;

/** What a character is to a hexadecimal id, as bits: the digit 0 is none of them, so zeros together are nothing. */
const SMALL_DIGIT = 1;
const CAPITAL_DIGIT = 2;
const NO_DIGIT = 4;
const DIGIT_KINDS = new Uint8Array(256).fill(NO_DIGIT);
for (const digit of "0123456789abcdef") DIGIT_KINDS[digit.charCodeAt(0)] = digit === "0" ? 0 : SMALL_DIGIT;
for (const digit of "ABCDEF") DIGIT_KINDS[digit.charCodeAt(0)] = CAPITAL_DIGIT;

const encoder = new TextEncoder();
const KEPT = { trace: encoder.encode("otel.trace_id"), span: encoder.encode("otel.span_id") };

/** Writes the ids of traces and spans: in their columns, in lower case; zeros are no id, and what is no id at all is an attribute. */
export class HexIds {
  readonly #tape: JsonTape;
  readonly #output: AttributeOutput;
  readonly #hex = new Uint8Array(TRACE_ID_DIGITS);
  #writer = new RecordWriter();

  constructor(tape: JsonTape, output: AttributeOutput) {
    this.#tape = tape;
    this.#output = output;
  }

  open(writer: RecordWriter): void {
    this.#writer = writer;
  }

  /** The ids at two tokens, 0 for none. */
  write(traceId: number, spanId: number): void {
    this.#write(traceId, true);
    this.#write(spanId, false);
  }

  #write(token: number, isTrace: boolean): void {
    if (token === 0) return;
    this.#tape.readText(token);
    const { textBytes, textStart, textEnd } = this.#tape;
    if (textStart === textEnd) return;
    const digits = isTrace ? TRACE_ID_DIGITS : SPAN_ID_DIGITS;
    let found = textEnd - textStart === digits ? 0 : NO_DIGIT;
    for (let i = textStart; i < textEnd && found < NO_DIGIT; i++)
      found |= DIGIT_KINDS[textBytes[i] ?? 0] ?? NO_DIGIT;
    if (found >= NO_DIGIT) {
      const isText = (this.#tape.kinds[token] ?? 0) <= JSON_ESCAPED_STRING;
      this.#output.write(isTrace ? KEPT.trace : KEPT.span, isText ? TEXT : PLAIN, token);
    }
    if (found === 0 || found >= NO_DIGIT) return;
    let source = textBytes;
    let start = textStart;
    if (found >= CAPITAL_DIGIT) {
      source = this.#hex;
      start = 0;
      for (let i = 0; i < digits; i++) source[i] = (textBytes[textStart + i] ?? 0) | 0x20;
    }
    if (isTrace) this.#writer.traceIdBytes(source, start, start + digits);
    else this.#writer.spanIdBytes(source, start, start + digits);
  }
}
