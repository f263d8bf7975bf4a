import { EPOCH_MIN_DIGITS, writeField } from "../../record/json-record.ts";
import type { LevelScale, RecordField } from "../../record/json-record-keys.ts";
import { levelOfBytes } from "../../record/levels.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import {
  JSON_ESCAPED_STRING,
  JSON_FALSE,
  JSON_NULL,
  JSON_NUMBER,
  JSON_OBJECT,
  JSON_TRUE,
  type JsonTape,
} from "../json-tape.ts";
import { SHAPE_MEMBERS_MAX } from "./limits.ts";
import type { PlainValues } from "./plain-values.ts";
import { FIELD_BITS, planRecord, type RecordPlan } from "./record-plan.ts";
import { ShapeTable } from "./shape-table.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const MINUS = 0x2d;
const ISO_MAX_CHARS = 64;
const LOGGER = new TextEncoder().encode("logger");
const TRACE_ID_CHARS = 32;
const SPAN_ID_CHARS = 16;

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Shared by all decoders of a thread: the senders are the same. */
const SHAPES = new ShapeTable(true, planRecord);

/**
 * A JSON log object on a tape, written as `writeJsonRecord` writes its value, but from the bytes into the columns. Most
 * values need no JavaScript value for that; of the others one is made and written the other way.
 */
export class PlainRecord {
  readonly #tape: JsonTape;
  readonly #parsed: PlainValues;
  readonly #tokens = new Uint32Array(SHAPE_MEMBERS_MAX);
  /** By the position of a value: it has become a field of the present record. */
  readonly #isUsed = new Uint8Array(SHAPE_MEMBERS_MAX);
  #object = 0;
  #plan: RecordPlan | null = null;

  constructor(tape: JsonTape, parsed: PlainValues) {
    this.#tape = tape;
    this.#parsed = parsed;
  }

  /** Takes the object at a token. False for one that has to be read the other way. */
  read(object: number): boolean {
    this.#object = object;
    this.#plan = SHAPES.find(this.#tape, object, this.#tokens);
    return this.#plan !== null;
  }

  /** Writes the object that was read; `given` and the answer are the bits of fields as in `writeJsonRecord`. */
  write(writer: RecordWriter, given: number): number {
    const plan = this.#plan;
    if (plan === null) throw new TypeError("no object was read");
    const tokens = this.#tokens;
    const isUsed = this.#isUsed;
    const { names, fields } = plan;
    isUsed.fill(0, 0, names.length);
    let done = given;
    for (let i = 0; i < fields.length; i++) {
      const planned = fields[i];
      if (planned === undefined || (done & planned.bit) !== 0) continue;
      for (const { value, scale } of planned.candidates) {
        if (!this.#writeField(writer, planned.field, scale, tokens[value] ?? 0)) continue;
        done |= planned.bit;
        isUsed[value] = 1;
        break;
      }
    }
    if ((done & FIELD_BITS.message) === 0) writer.message(JSON.stringify(this.#parsed.parse(this.#object)));
    for (let value = 0; value < names.length; value++) {
      const name = names[value];
      if (isUsed[value] === 0 && name !== undefined) this.writeAttribute(writer, name, tokens[value] ?? 0);
    }
    return done | FIELD_BITS.message;
  }

  /** The tokens of the object's own members that may be the text of an object; null when one is an object. */
  get lines(): readonly number[] | null {
    const plan = this.#plan;
    if (plan === null || plan.hasLineObject) return null;
    return plan.lines.map((value) => this.#tokens[value] ?? 0);
  }

  /** Writes a value as it stands, under a name that is UTF-8. */
  writeAttribute(writer: RecordWriter, name: Uint8Array, token: number): void {
    const tape = this.#tape;
    const kind = tape.kinds[token] ?? 0;
    if (kind <= JSON_ESCAPED_STRING) {
      tape.readText(token);
      writer.attributeBytes(name, 0, name.length, tape.textBytes, tape.textStart, tape.textEnd, false);
    } else if (kind === JSON_TRUE || kind === JSON_FALSE || this.#parsed.isPlainNumber(token)) {
      const { source, starts, ends } = tape;
      writer.attributeBytes(name, 0, name.length, source, starts[token] ?? 0, ends[token] ?? 0, true);
    } else if (kind === JSON_NULL) writer.attributeBytes(name, 0, name.length, name, 0, 0, true);
    else writer.attribute(utf8.decode(name), this.#parsed.parse(token));
  }

  /** Writes the time that a value says, as the function of the same name. */
  writeTime(writer: RecordWriter, token: number): boolean {
    return this.#writeField(writer, "time", "words", token);
  }

  /** Writes a field if the value says it: the usual forms from the bytes, all others as a value. */
  #writeField(writer: RecordWriter, field: RecordField, scale: LevelScale, token: number): boolean {
    const tape = this.#tape;
    const kind = tape.kinds[token] ?? 0;
    // No object on its way here has members, and one without says nothing.
    if (kind === JSON_OBJECT || kind === JSON_NULL) return false;
    if (kind === JSON_NUMBER && field === "time" && this.#isPlainEpoch(token))
      return writer.timeEpochBytes(tape.source, tape.starts[token] ?? 0, tape.ends[token] ?? 0);
    if (kind > JSON_ESCAPED_STRING) return writeField(writer, field, scale, this.#parsed.parse(token));
    tape.readText(token);
    const isWritten = writeText(writer, field, tape.textBytes, tape.textStart, tape.textEnd);
    return isWritten ?? writeField(writer, field, scale, this.#parsed.parse(token));
  }

  /** Whether a number has more digits than durations and counters have, and is no other when it is parsed. */
  #isPlainEpoch(token: number): boolean {
    const { source, starts, ends } = this.#tape;
    const start = starts[token] ?? 0;
    if (source[start] === MINUS || !this.#parsed.isPlainNumber(token)) return false;
    const leastEnd = start + EPOCH_MIN_DIGITS;
    for (let at = start; at < leastEnd; at++)
      if (at >= (ends[token] ?? 0) || (source[at] ?? 0) < 0x30) return false;
    return true;
  }
}

/** Whether a text says a field, and is written then; null where it takes more to tell. */
function writeText(
  writer: RecordWriter,
  field: RecordField,
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean | null {
  switch (field) {
    case "time":
      return end - start <= ISO_MAX_CHARS && writer.timeIsoBytes(bytes, start, end) ? true : null;
    case "level": {
      const level = levelOfBytes(bytes, start, end);
      if (level === null) return null;
      writer.level(level);
      return true;
    }
    case "message": {
      const kept = bytes[end - 1] === LINE_FEED ? withoutLineBreak(bytes, start, end) : end;
      if (kept === start) return false;
      writer.messageBytes(bytes, start, kept);
      return true;
    }
    case "logger":
      if (start < end) writer.attributeBytes(LOGGER, 0, LOGGER.length, bytes, start, end, false);
      return start < end;
    case "service":
    case "source":
    case "host":
      writer.nameBytes(field, bytes, start, end);
      return start < end;
    case "traceId":
      if ((end - start !== TRACE_ID_CHARS && end - start !== SPAN_ID_CHARS) || !isLowerHex(bytes, start, end))
        return null;
      writer.traceIdBytes(bytes, start, end);
      return true;
    case "spanId":
      if (end - start !== SPAN_ID_CHARS || !isLowerHex(bytes, start, end)) return null;
      writer.spanIdBytes(bytes, start, end);
      return true;
  }
}

function withoutLineBreak(bytes: Uint8Array, start: number, end: number): number {
  if (end === start) return end;
  return end - 1 > start && bytes[end - 2] === CARRIAGE_RETURN ? end - 2 : end - 1;
}

function isLowerHex(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const c = bytes[at] ?? 0;
    if (!((c >= 0x30 && c <= 0x39) || (c >= 0x61 && c <= 0x66))) return false;
  }
  return true;
}
