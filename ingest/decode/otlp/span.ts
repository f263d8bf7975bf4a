import type { InheritedFields } from "../../record/inherited-fields.ts";
import { RecordWriter } from "../../record/record-writer.ts";
import { JSON_ARRAY, JSON_OBJECT, type JsonTape } from "../json-tape.ts";
import { type AnyValues, KeyValues, TEXT } from "./any-values.ts";
import type { AttributeOutput } from "./attribute-output.ts";
import type { ItemWriter, Signal } from "./export-request.ts";
import { FieldNames } from "./field-names.ts";
import { HexIds } from "./hex-ids.ts";

/** Traces, as requests carry them. */
export const SPANS: Signal = {
  resources: "resourceSpans",
  scopes: "scopeSpans",
  items: "spans",
  writer: (values, output) => new Spans(values, output),
};

const NAMES = [
  "traceId",
  "spanId",
  "parentSpanId",
  "name",
  "kind",
  "startTimeUnixNano",
  "endTimeUnixNano",
  "attributes",
  "events",
  "status",
] as const;
const FIELDS = new FieldNames(NAMES);
const [TRACE_ID, SPAN_ID, PARENT, NAME, KIND, START, END, ATTRIBUTES, EVENTS, STATUS] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
] as const;
/** Fields before this one are plain values. */
const FIRST_STRUCTURED = ATTRIBUTES;
const EVENT_FIELDS = new FieldNames(["attributes"]);
const STATUS_FIELDS = new FieldNames(["message", "code"]);
const [STATUS_MESSAGE, STATUS_CODE] = [0, 1] as const;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const KEPT = {
  parent: encoder.encode("span.parent_id"),
  kind: encoder.encode("span.kind"),
  duration: encoder.encode("span.duration_ms"),
  statusMessage: encoder.encode("span.status_message"),
};
/** By the number or the name of the enumeration. */
const KINDS: ReadonlyMap<string, Uint8Array> = new Map(
  ["internal", "server", "client", "producer", "consumer"].flatMap((kind, i) =>
    [String(i + 1), `SPAN_KIND_${kind.toUpperCase()}`].map((name) => [name, encoder.encode(kind)] as const),
  ),
);
const ERROR_CODES: ReadonlySet<string> = new Set(["2", "STATUS_CODE_ERROR"]);

/**
 * How attributes are called by which a span is about generative AI: by OpenTelemetry's conventions and by those of OpenInference, whose
 * spans of tools say no more than their kind.
 */
const ABOUT_AI = ["gen_ai.", "llm.", "openinference."];
/** What of a span's events is said of the span: what was asked and answered, and why it failed. */
const OF_EVENTS = ["gen_ai.", "exception."];
const NOT_ABOUT_AI = "only spans about generative AI are kept";
const NANOS_PER_MILLI = 1e6;
const MICROS_PER_MILLI = 1e3;

/** Writes spans about generative AI as entries of when they began; every other span is given up by itself. */
class Spans implements ItemWriter {
  readonly #tape: JsonTape;
  readonly #values: AnyValues;
  readonly #output: AttributeOutput;
  readonly #fields = new Uint32Array(FIELDS.count);
  readonly #status = new Uint32Array(STATUS_FIELDS.count);
  readonly #event = new Uint32Array(EVENT_FIELDS.count);
  readonly #attributes = new KeyValues();
  readonly #ofEvents = new KeyValues();
  readonly #ofEvent = new KeyValues();
  readonly #ids: HexIds;
  #writer = new RecordWriter();

  constructor(values: AnyValues, output: AttributeOutput) {
    this.#tape = values.tape;
    this.#values = values;
    this.#output = output;
    this.#ids = new HexIds(values.tape, output);
  }

  open(writer: RecordWriter): void {
    this.#writer = writer;
    this.#ids.open(writer);
  }

  writeItem(
    span: number,
    place: string,
    index: number,
    scope: InheritedFields,
    resource: InheritedFields,
  ): void {
    const reason = this.#read(span);
    if (reason !== null) {
      this.#writer.reject({ place: `${place}/${index}`, reason, raw: "" });
      return;
    }
    this.#writer.begin();
    this.#write();
    this.#writer.inherit(scope);
    this.#writer.inherit(resource);
    this.#writer.end();
  }

  /** Finds the parts of a span, for `#write`. Why it cannot be written, or null. */
  #read(span: number): string | null {
    const tape = this.#tape;
    if (tape.kinds[span] !== JSON_OBJECT) return "a span is not an object";
    const fields = this.#fields;
    FIELDS.read(tape, span, fields);
    for (let i = 0; i < FIRST_STRUCTURED; i++)
      if (fields[i] !== 0 && !this.#isPlain(fields[i] ?? 0)) return `${NAMES[i]} is not a plain value`;
    const values = this.#values;
    if (!values.readAll(fields[ATTRIBUTES] ?? 0, this.#attributes))
      return `attributes of a span ${values.problem}`;
    if (!this.#isAbout(this.#attributes)) return NOT_ABOUT_AI;
    this.#status.fill(0);
    const status = fields[STATUS] ?? 0;
    if (tape.kinds[status] === JSON_OBJECT && status !== 0) STATUS_FIELDS.read(tape, status, this.#status);
    return this.#readEvents(fields[EVENTS] ?? 0) ? null : `attributes of an event ${values.problem}`;
  }

  #readEvents(list: number): boolean {
    const tape = this.#tape;
    this.#ofEvents.count = 0;
    if (list === 0 || tape.kinds[list] !== JSON_ARRAY) return true;
    const end = tape.ends[list] ?? 0;
    for (let event = list + 1; event < end; event = tape.next(event)) {
      if (tape.kinds[event] !== JSON_OBJECT) continue;
      EVENT_FIELDS.read(tape, event, this.#event);
      const all = this.#ofEvent;
      if (!this.#values.readAll(this.#event[0] ?? 0, all)) return false;
      for (let i = 0; i < all.count; i++)
        if (this.#begins(all.names[i] ?? 0, OF_EVENTS))
          this.#ofEvents.add(all.names[i] ?? 0, all.kinds[i] ?? 0, all.tokens[i] ?? 0);
    }
    return true;
  }

  #isAbout({ names, count }: KeyValues): boolean {
    for (let i = 0; i < count; i++) if (this.#begins(names[i] ?? 0, ABOUT_AI)) return true;
    return false;
  }

  #begins(name: number, beginnings: readonly string[]): boolean {
    if (name === 0) return false;
    const text = this.#textOf(name);
    return beginnings.some((beginning) => text.startsWith(beginning));
  }

  #write(): void {
    const tape = this.#tape;
    const writer = this.#writer;
    const output = this.#output;
    const fields = this.#fields;
    const [start, name, parent] = [fields[START] ?? 0, fields[NAME] ?? 0, fields[PARENT] ?? 0];
    output.writeAll(this.#attributes, -1, -1);
    output.writeAll(this.#ofEvents, -1, -1);
    if (start !== 0) {
      tape.readText(start);
      writer.timeUnixNanoBytes(tape.textBytes, tape.textStart, tape.textEnd);
    }
    if (name !== 0) {
      tape.readText(name);
      writer.messageBytes(tape.textBytes, tape.textStart, tape.textEnd);
    }
    this.#ids.write(fields[TRACE_ID] ?? 0, fields[SPAN_ID] ?? 0);
    if (this.#isSaid(parent)) output.write(KEPT.parent, TEXT, parent);
    const kind = fields[KIND] === 0 ? undefined : KINDS.get(this.#textOf(fields[KIND] ?? 0));
    if (kind !== undefined) output.writeBytes(KEPT.kind, kind, 0, kind.length, false);
    this.#writeDuration(start, fields[END] ?? 0);
    const code = this.#status[STATUS_CODE] ?? 0;
    writer.level(this.#isPlain(code) && ERROR_CODES.has(this.#textOf(code)) ? "error" : "info");
    const message = this.#status[STATUS_MESSAGE] ?? 0;
    if (this.#isSaid(message)) output.write(KEPT.statusMessage, TEXT, message);
  }

  /** In milliseconds with three places, which is as fine as a double holds times of today. */
  #writeDuration(start: number, end: number): void {
    if (start === 0 || end === 0) return;
    const ms = (Number(this.#textOf(end)) - Number(this.#textOf(start))) / NANOS_PER_MILLI;
    if (!(ms >= 0)) return;
    const text = encoder.encode(String(Math.round(ms * MICROS_PER_MILLI) / MICROS_PER_MILLI));
    this.#output.writeBytes(KEPT.duration, text, 0, text.length, true);
  }

  #isPlain(token: number): boolean {
    return token !== 0 && (this.#tape.kinds[token] ?? 0) < JSON_OBJECT;
  }

  #isSaid(token: number): boolean {
    return this.#isPlain(token) && this.#tape.starts[token] !== this.#tape.ends[token];
  }

  #textOf(token: number): string {
    const tape = this.#tape;
    tape.readText(token);
    return decoder.decode(tape.textBytes.subarray(tape.textStart, tape.textEnd));
  }
}
