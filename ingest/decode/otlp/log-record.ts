import type { Level } from "../../log-batch.ts";
import type { InheritedFields } from "../../record/inherited-fields.ts";
import { levelOfOtlpSeverity, levelOfText } from "../../record/levels.ts";
import { RecordWriter } from "../../record/record-writer.ts";
import { JSON_ESCAPED_STRING, JSON_OBJECT, type JsonTape } from "../json-tape.ts";
import { type AnyValues, KeyValues, PLAIN, TEXT } from "./any-values.ts";
import type { AttributeOutput } from "./attribute-output.ts";
import type { ItemWriter, Signal } from "./export-request.ts";
import { FieldNames } from "./field-names.ts";
import { HexIds } from "./hex-ids.ts";
import { LogBody } from "./log-body.ts";

const NAMES = [
  "timeUnixNano",
  "observedTimeUnixNano",
  "severityNumber",
  "severityText",
  "traceId",
  "spanId",
  "flags",
  "droppedAttributesCount",
  "eventName",
  "body",
  "attributes",
] as const;
const FIELDS = new FieldNames(NAMES);
const [
  TIME,
  OBSERVED,
  SEVERITY_NUMBER,
  SEVERITY_TEXT,
  TRACE_ID,
  SPAN_ID,
  FLAGS,
  DROPPED,
  EVENT_NAME,
  BODY,
  ATTRIBUTES,
] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const;
/** Fields before this one are plain values. */
const FIRST_STRUCTURED = BODY;

/** Severity numbers of a level; the first one is what loggers without finer steps send. */
const NUMBERS_PER_LEVEL = 4;
const LEVEL_TEXT_MAX_BYTES = 16;

/** A time of observation that is no further from the time is not kept. */
const OBSERVED_NEAR_NANOS = 1e9;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Under what names the fields of a record that have no column are kept. */
const KEPT = {
  time: encoder.encode("otel.time_unix_nano"),
  observedTime: encoder.encode("otel.observed_time_unix_nano"),
  severityNumber: encoder.encode("otel.severity_number"),
  severityText: encoder.encode("otel.severity_text"),
  flags: encoder.encode("otel.flags"),
  dropped: encoder.encode("otel.dropped_attributes_count"),
  eventName: encoder.encode("event.name"),
};

/** Logs, as requests carry them. */
export const LOGS: Signal = {
  resources: "resourceLogs",
  scopes: "scopeLogs",
  items: "logRecords",
  writer: (values, output) => new LogRecords(values, output),
};

/** Writes LogRecords: the fields of one record in any order, everything that has no column as an attribute. */
class LogRecords implements ItemWriter {
  readonly #tape: JsonTape;
  readonly #values: AnyValues;
  readonly #output: AttributeOutput;
  readonly #fields = new Uint32Array(FIELDS.count);
  readonly #body: LogBody;
  readonly #attributes = new KeyValues();
  readonly #ids: HexIds;
  #writer = new RecordWriter();

  constructor(values: AnyValues, output: AttributeOutput) {
    this.#tape = values.tape;
    this.#values = values;
    this.#output = output;
    this.#body = new LogBody(values, output);
    this.#ids = new HexIds(values.tape, output);
  }

  open(writer: RecordWriter): void {
    this.#writer = writer;
    this.#body.open(writer);
    this.#ids.open(writer);
  }

  writeItem(
    record: number,
    place: string,
    index: number,
    scope: InheritedFields,
    resource: InheritedFields,
  ): void {
    const writer = this.#writer;
    const reason = this.#read(record);
    if (reason !== null) {
      writer.reject({ place: `${place}/${index}`, reason, raw: "" });
      return;
    }
    writer.begin();
    this.#write();
    writer.inherit(scope);
    writer.inherit(resource);
    writer.end();
  }

  /** Finds the parts of a record, for `#write`. Why it cannot be written, for people, or null. */
  #read(record: number): string | null {
    const tape = this.#tape;
    if (tape.kinds[record] !== JSON_OBJECT) return "the record is not an object";
    const fields = this.#fields;
    FIELDS.read(tape, record, fields);
    for (let i = 0; i < FIRST_STRUCTURED; i++)
      if ((tape.kinds[fields[i] ?? 0] ?? 0) >= JSON_OBJECT && fields[i] !== 0)
        return `${NAMES[i]} is not a plain value`;
    const values = this.#values;
    if (!values.readAll(fields[ATTRIBUTES] ?? 0, this.#attributes))
      return `attributes${values.place} ${values.problem}`;
    if (!values.read(fields[BODY] ?? 0) || (values.kind > PLAIN && !values.check(values.kind, values.token)))
      return `body${values.place} ${values.problem}`;
    return null;
  }

  /** Writes the record that was read last, between `begin` and `end` of the writer. */
  #write(): void {
    const fields = this.#fields;
    this.#output.writeAll(this.#attributes, -1, -1);
    this.#writeTime(fields[TIME] ?? 0, fields[OBSERVED] ?? 0);
    this.#writeLevel(fields[SEVERITY_NUMBER] ?? 0, fields[SEVERITY_TEXT] ?? 0);
    this.#ids.write(fields[TRACE_ID] ?? 0, fields[SPAN_ID] ?? 0);
    this.#keepNumber(KEPT.flags, fields[FLAGS] ?? 0);
    this.#keepNumber(KEPT.dropped, fields[DROPPED] ?? 0);
    this.#keepText(KEPT.eventName, fields[EVENT_NAME] ?? 0);
    this.#body.write(fields[BODY] ?? 0, fields[EVENT_NAME] ?? 0);
  }

  /** The record's time, else when it was observed, else, by saying nothing, its receipt. */
  #writeTime(time: number, observed: number): void {
    const hasTime = this.#takeTime(KEPT.time, time);
    if (!hasTime) this.#takeTime(KEPT.observedTime, observed);
    else if (observed !== 0 && !this.#isZero(observed) && !this.#isNear(time, observed))
      this.#keepNumber(KEPT.observedTime, observed);
  }

  /** Whether a time was written; one that the store cannot hold is kept under its name. */
  #takeTime(name: Uint8Array, token: number): boolean {
    if (token === 0) return false;
    const tape = this.#tape;
    tape.readText(token);
    if (this.#writer.timeUnixNanoBytes(tape.textBytes, tape.textStart, tape.textEnd)) return true;
    if (this.#isZero(token)) return false;
    // Some encoders write large integers as fractions with an exponent.
    const value = Number(decoder.decode(tape.textBytes.subarray(tape.textStart, tape.textEnd)));
    if (Number.isInteger(value) && value > 0 && this.#writer.timeUnixNano(BigInt(value).toString()))
      return true;
    this.#keepNumber(name, token);
    return false;
  }

  #writeLevel(numberToken: number, textToken: number): void {
    const number = this.#smallNumber(numberToken);
    const level = levelOfOtlpSeverity(number) ?? this.#levelOfText(textToken);
    if (level !== null) this.#writer.level(level);
    const saysAll = number > 0 && level !== null && (number - 1) % NUMBERS_PER_LEVEL === 0;
    if (numberToken !== 0 && !saysAll) this.#keepNumber(KEPT.severityNumber, numberToken);
    if (textToken !== 0 && !this.#spells(textToken, level)) this.#keepText(KEPT.severityText, textToken);
  }

  #levelOfText(token: number): Level | null {
    if (token === 0) return null;
    const tape = this.#tape;
    tape.readText(token);
    const { textBytes, textStart, textEnd } = tape;
    if (textEnd - textStart > LEVEL_TEXT_MAX_BYTES) return null;
    return levelOfText(decoder.decode(textBytes.subarray(textStart, textEnd)));
  }

  /** Whether a string is the name of the level, in any case. */
  #spells(token: number, level: Level | null): boolean {
    if (level === null) return false;
    this.#tape.readText(token);
    const { textBytes, textStart, textEnd } = this.#tape;
    if (textEnd - textStart !== level.length) return false;
    for (let i = 0; i < level.length; i++)
      if (((textBytes[textStart + i] ?? 0) | 0x20) !== level.charCodeAt(i)) return false;
    return true;
  }

  /** One or two digits as a number; anything else is 0. */
  #smallNumber(token: number): number {
    if (token === 0) return 0;
    this.#tape.readText(token);
    const { textBytes, textStart, textEnd } = this.#tape;
    if (textEnd - textStart > 2) return 0;
    let number = 0;
    for (let i = textStart; i < textEnd; i++) {
      const digit = (textBytes[i] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) return 0;
      number = number * 10 + digit;
    }
    return number;
  }

  /** Keeps a number that is not zero, as a number also when it is written as a text. */
  #keepNumber(name: Uint8Array, token: number): void {
    if (token === 0 || this.#isZero(token)) return;
    const isNumberText =
      (this.#tape.kinds[token] ?? 0) <= JSON_ESCAPED_STRING && this.#values.isNumber(token);
    if (isNumberText) this.#output.write(name, PLAIN, token);
    else this.#keep(name, token);
  }

  /** Keeps a text that is not empty. */
  #keepText(name: Uint8Array, token: number): void {
    const { starts, ends } = this.#tape;
    if (token !== 0 && (starts[token] ?? 0) < (ends[token] ?? 0)) this.#keep(name, token);
  }

  /** Keeps a plain value as it is. */
  #keep(name: Uint8Array, token: number): void {
    const isText = (this.#tape.kinds[token] ?? 0) <= JSON_ESCAPED_STRING;
    this.#output.write(name, isText ? TEXT : PLAIN, token);
  }

  /** Whether a plain value is zeros or nothing. */
  #isZero(token: number): boolean {
    this.#tape.readText(token);
    const { textBytes, textStart, textEnd } = this.#tape;
    for (let i = textStart; i < textEnd; i++) if (textBytes[i] !== 0x30) return false;
    return true;
  }

  /** Whether two times are so near that the second one says nothing more: SDKs observe what they emit. */
  #isNear(one: number, other: number): boolean {
    const difference = this.#nanosOf(one) - this.#nanosOf(other);
    return Math.abs(difference) <= OBSERVED_NEAR_NANOS;
  }

  /** A time as a double, whose error is below a microsecond; NaN for what is not written as digits. */
  #nanosOf(token: number): number {
    this.#tape.readText(token);
    const { textBytes, textStart, textEnd } = this.#tape;
    let nanos = 0;
    for (let i = textStart; i < textEnd; i++) {
      const digit = (textBytes[i] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) return Number.NaN;
      nanos = nanos * 10 + digit;
    }
    return nanos;
  }
}
