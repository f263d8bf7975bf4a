import { ByteBuffer } from "../../native/byte-buffer.ts";
import type { InheritedFields } from "../../record/inherited-fields.ts";
import { RecordWriter } from "../../record/record-writer.ts";
import {
  JSON_ARRAY,
  JSON_ESCAPED_STRING,
  JSON_FALSE,
  JSON_OBJECT,
  JSON_TRUE,
  type JsonTape,
} from "../json-tape.ts";
import { type AnyValues, KeyValues, PLAIN, TEXT } from "./any-values.ts";
import type { AttributeOutput } from "./attribute-output.ts";
import type { ItemWriter, Signal } from "./export-request.ts";
import { FieldNames } from "./field-names.ts";

/** Metrics, as requests carry them. */
export const METRICS: Signal = {
  resources: "resourceMetrics",
  scopes: "scopeMetrics",
  items: "metrics",
  writer: (values, output) => new Metrics(values, output),
};

const FIELDS = new FieldNames([
  "name",
  "unit",
  "gauge",
  "sum",
  "histogram",
  "exponentialHistogram",
  "summary",
]);
const [NAME, UNIT, GAUGE, SUM, HISTOGRAM, EXPONENTIAL, SUMMARY] = [0, 1, 2, 3, 4, 5, 6] as const;
/** What the kinds that are not kept are called. */
const OTHERS = [
  [HISTOGRAM, "histogram"],
  [EXPONENTIAL, "exponential histogram"],
  [SUMMARY, "summary"],
] as const;

const KIND_FIELDS = new FieldNames(["dataPoints", "aggregationTemporality", "isMonotonic"]);
const [DATA_POINTS, TEMPORALITY, MONOTONIC] = [0, 1, 2] as const;
const POINT_FIELDS = new FieldNames(["timeUnixNano", "asDouble", "asInt", "attributes"]);
const [TIME, AS_DOUBLE, AS_INT, ATTRIBUTES] = [0, 1, 2, 3] as const;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const KEPT = {
  name: encoder.encode("metric.name"),
  value: encoder.encode("metric.value"),
  kind: encoder.encode("metric.kind"),
  unit: encoder.encode("metric.unit"),
  temporality: encoder.encode("metric.temporality"),
  monotonic: encoder.encode("metric.monotonic"),
};
const GAUGE_TEXT = encoder.encode("gauge");
const SUM_TEXT = encoder.encode("sum");
/** By the name or the number of the enumeration. */
const TEMPORALITIES: ReadonlyMap<string, Uint8Array> = new Map([
  ...["1", "AGGREGATION_TEMPORALITY_DELTA"].map((name) => [name, encoder.encode("delta")] as const),
  ...["2", "AGGREGATION_TEMPORALITY_CUMULATIVE"].map((name) => [name, encoder.encode("cumulative")] as const),
]);
const SPACE = 0x20;

/**
 * Writes the points of sums and gauges as entries with the metric's name and value as attributes. A point of another kind,
 * or without a value, is given up by itself.
 */
class Metrics implements ItemWriter {
  readonly #tape: JsonTape;
  readonly #values: AnyValues;
  readonly #output: AttributeOutput;
  readonly #fields = new Uint32Array(FIELDS.count);
  readonly #kindFields = new Uint32Array(KIND_FIELDS.count);
  readonly #pointFields = new Uint32Array(POINT_FIELDS.count);
  readonly #attributes = new KeyValues();
  readonly #message = new ByteBuffer(256);
  #writer = new RecordWriter();

  constructor(values: AnyValues, output: AttributeOutput) {
    this.#tape = values.tape;
    this.#values = values;
    this.#output = output;
  }

  open(writer: RecordWriter): void {
    this.#writer = writer;
  }

  writeItem(
    metric: number,
    place: string,
    index: number,
    scope: InheritedFields,
    resource: InheritedFields,
  ): void {
    const metricPlace = `${place}/${index}`;
    const fields = this.#fields;
    if (this.#tape.kinds[metric] !== JSON_OBJECT) {
      this.#writer.reject({ place: metricPlace, reason: "the metric is not an object", raw: "" });
      return;
    }
    FIELDS.read(this.#tape, metric, fields);
    const isSum = fields[SUM] !== 0;
    this.#eachPoint((isSum ? fields[SUM] : fields[GAUGE]) ?? 0, metricPlace, (point, pointPlace) => {
      const reason = this.#readPoint(point);
      if (reason !== null) {
        this.#writer.reject({ place: pointPlace, reason: `${reason} in ${this.#nameText()}`, raw: "" });
        return;
      }
      this.#writer.begin();
      this.#writePoint(isSum);
      this.#writer.inherit(scope);
      this.#writer.inherit(resource);
      this.#writer.end();
    });
    for (const [field, kind] of OTHERS)
      this.#eachPoint(fields[field] ?? 0, metricPlace, (_, pointPlace) => {
        const reason = `the ${kind} ${this.#nameText()} is not kept, only sums and gauges are`;
        this.#writer.reject({ place: pointPlace, reason, raw: "" });
      });
  }

  #eachPoint(kind: number, place: string, visit: (point: number, place: string) => void): void {
    const tape = this.#tape;
    if (kind === 0 || tape.kinds[kind] !== JSON_OBJECT) return;
    KIND_FIELDS.read(tape, kind, this.#kindFields);
    const list = this.#kindFields[DATA_POINTS] ?? 0;
    if (list === 0 || tape.kinds[list] !== JSON_ARRAY) return;
    const end = tape.ends[list] ?? 0;
    let index = 0;
    for (let point = list + 1; point < end; point = tape.next(point))
      visit(point, `${place}/dataPoints/${index++}`);
  }

  /** Finds the parts of a point. Why it cannot be written, or null. */
  #readPoint(point: number): string | null {
    const tape = this.#tape;
    if (tape.kinds[point] !== JSON_OBJECT) return "a point is not an object";
    const fields = this.#pointFields;
    POINT_FIELDS.read(tape, point, fields);
    const value = this.#valueToken();
    if (value === 0) return "a point has no value";
    if (!this.#isPlain(value) || (fields[TIME] !== 0 && !this.#isPlain(fields[TIME] ?? 0)))
      return "a point is of no known form";
    const values = this.#values;
    if (values.readAll(fields[ATTRIBUTES] ?? 0, this.#attributes)) return null;
    return `attributes${values.place} ${values.problem}`;
  }

  #writePoint(isSum: boolean): void {
    const tape = this.#tape;
    const fields = this.#fields;
    const name = fields[NAME] ?? 0;
    const value = this.#valueToken();
    const time = this.#pointFields[TIME] ?? 0;
    const output = this.#output;
    if (time !== 0) {
      tape.readText(time);
      this.#writer.timeUnixNanoBytes(tape.textBytes, tape.textStart, tape.textEnd);
    }
    this.#writeMessage(name, value);
    if (this.#isPlain(name)) output.write(KEPT.name, TEXT, name);
    const isText = (tape.kinds[value] ?? 0) <= JSON_ESCAPED_STRING && !this.#values.isNumber(value);
    output.write(KEPT.value, isText ? TEXT : PLAIN, value);
    const kind = isSum ? SUM_TEXT : GAUGE_TEXT;
    output.writeBytes(KEPT.kind, kind, 0, kind.length, false);
    const unit = fields[UNIT] ?? 0;
    if (this.#isPlain(unit) && tape.starts[unit] !== tape.ends[unit]) output.write(KEPT.unit, TEXT, unit);
    if (isSum) this.#writeSum();
    output.writeAll(this.#attributes, -1, -1);
  }

  #writeSum(): void {
    const tape = this.#tape;
    const temporality = this.#kindFields[TEMPORALITY] ?? 0;
    const monotonic = this.#kindFields[MONOTONIC] ?? 0;
    const text = this.#isPlain(temporality) ? TEMPORALITIES.get(this.#textOf(temporality)) : undefined;
    if (text !== undefined) this.#output.writeBytes(KEPT.temporality, text, 0, text.length, false);
    const kind = tape.kinds[monotonic];
    if (monotonic !== 0 && (kind === JSON_TRUE || kind === JSON_FALSE))
      this.#output.write(KEPT.monotonic, PLAIN, monotonic);
  }

  /** The name and the value. */
  #writeMessage(name: number, value: number): void {
    const message = this.#message;
    message.clear();
    const tape = this.#tape;
    for (const token of [name, value]) {
      if (!this.#isPlain(token)) continue;
      if (message.length > 0) message.writeByte(SPACE);
      tape.readText(token);
      message.writeSlice(tape.textBytes, tape.textStart, tape.textEnd);
    }
    this.#writer.messageBytes(message.bytes, 0, message.length);
  }

  #valueToken(): number {
    return this.#pointFields[AS_INT] || this.#pointFields[AS_DOUBLE] || 0;
  }

  #isPlain(token: number): boolean {
    return token !== 0 && (this.#tape.kinds[token] ?? 0) < JSON_OBJECT;
  }

  #nameText(): string {
    const name = this.#fields[NAME] ?? 0;
    return this.#isPlain(name) ? this.#textOf(name) : "a metric without a name";
  }

  #textOf(token: number): string {
    const tape = this.#tape;
    tape.readText(token);
    return decoder.decode(tape.textBytes.subarray(tape.textStart, tape.textEnd));
  }
}
