import type { CommittedBlock } from "../committed-block.ts";
import { CefDecoder } from "../decode/cef/cef-decoder.ts";
import type { JsonObject } from "../decode/json-body.ts";
import { decodeLenient } from "../decode/lenient-text.ts";
import { type Line, linesOf } from "../decode/lines.ts";
import { indexedText } from "../entry-columns.ts";
import { IngestRejectedError } from "../errors.ts";
import { REQUEST_MAX_RECORDS } from "../limits.ts";
import { LEVEL_NUMBERS, type Level, LogBatch } from "../log-batch.ts";
import type { RecordField } from "../record/json-record-keys.ts";
import type { RecordFields } from "../record/record-fields.ts";
import { RecordWriter } from "../record/record-writer.ts";
import { attributesOf, blockOf } from "./batch-entries.ts";
import { type CompiledMapping, compileMapping } from "./compile-mapping.ts";
import { LearnedTexts, type SourceDecoder } from "./learned-texts.ts";
import { type Mapping, saysNothing } from "./mapping.ts";

interface CefSource {
  readonly mapping: Mapping;
  readonly learning: boolean;
  readonly now: () => number;
}

const NO_ROWS: ReadonlySet<number> = new Set();

/**
 * Decodes lines of CEF. A mapping sees a message as the attributes that it has when it is stored, and its text as
 * `message`; fields that the mapping does not name stay as CEF says them.
 */
export class CefSourceDecoder implements SourceDecoder {
  readonly format = "cef";
  readonly learned = new LearnedTexts();
  readonly #cef: CefDecoder;
  readonly #learning: boolean;
  readonly #map: CompiledMapping | null;
  readonly #scratch = new RecordWriter();
  #current: {
    readonly block: CommittedBlock;
    readonly row: number;
    readonly hasMessageAttribute: boolean;
  } | null = null;

  constructor({ mapping, learning, now }: CefSource) {
    this.#cef = new CefDecoder({ now });
    this.#learning = learning;
    this.#map = saysNothing(mapping)
      ? null
      : compileMapping(mapping, (...unnamed) => this.#writeUnnamed(...unnamed));
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    this.learned.clear();
    if (this.#map === null && !this.#learning) this.#cef.decode(body, writer);
    else this.#decodeInto(body, writer);
    this.#current = null;
  }

  /** Decodes to entries that are not stored, and makes records of those. */
  #decodeInto(body: Uint8Array, writer: RecordWriter): void {
    const lines: Line[] = [];
    const batch = new LogBatch();
    batch.beginRequest(0, 0);
    let count = 0;
    for (const line of linesOf(body)) {
      // Every line has the scratch writer to itself, so that one counts none, and the other only sees the second pass.
      if (count++ === REQUEST_MAX_RECORDS) throw tooMany();
      this.#scratch.open(batch, NO_ROWS);
      this.#cef.decode(line.bytes, this.#scratch);
      const [rejection] = this.#scratch.rejections;
      if (rejection === undefined) lines.push(line);
      else if (this.#learning) this.#writeRaw(line, {}, writer);
      else writer.reject({ place: placeOf(line), reason: rejection.reason, raw: line.bytes });
    }
    if (lines.length === 0) return;
    const block = blockOf(batch);
    for (const [row, line] of lines.entries()) {
      const attributes = attributesOf(block, row);
      this.#current = { block, row, hasMessageAttribute: Object.hasOwn(attributes, "message") };
      if (this.#learning) this.#writeRaw(line, attributes, writer);
      else this.#writeMapped(line, attributes, writer);
    }
  }

  #writeRaw(line: Line, attributes: JsonObject, writer: RecordWriter): void {
    const text = textOf(line);
    this.learned.add(text);
    writer.begin();
    writer.message(text);
    writer.attributes("", attributes);
    writer.end();
  }

  #writeMapped(line: Line, attributes: Record<string, unknown>, writer: RecordWriter): void {
    if (this.#map === null || this.#current === null) return;
    const { block, row } = this.#current;
    // A message of CEF is an attribute only where it is not the entry's.
    const record = { message: block.messageText(row), ...attributes };
    const reason = this.#map(record, writer);
    if (reason !== null) writer.reject({ place: placeOf(line), reason, raw: line.bytes });
  }

  #writeUnnamed(writer: RecordFields, rest: JsonObject, given: ReadonlySet<RecordField>): void {
    if (this.#current === null) return;
    const { block, row } = this.#current;
    if (!given.has("message")) writer.message(block.messageText(row));
    const level = block.level(row);
    if (!given.has("level") && isLevel(level)) writer.level(level);
    if (!given.has("service")) writer.service(indexedText(block.service, row));
    if (!given.has("source")) writer.source(indexedText(block.source, row));
    if (!given.has("host")) writer.host(indexedText(block.host, row));
    if (!given.has("traceId")) writer.traceId(block.traceId(row));
    if (!given.has("spanId")) writer.spanId(block.spanId(row));
    const { millis, nanos } = block.time(row);
    // Without a time of its own the message was received at the epoch.
    if (!given.has("time") && block.ts(row) !== 0n) {
      const seconds = Math.floor(millis / 1000);
      writer.timeParts(seconds, (millis - seconds * 1000) * 1_000_000 + nanos);
    }
    // The member that stands for the message is no attribute.
    for (const [key, value] of Object.entries(rest))
      if (key !== "message" || this.#current.hasMessageAttribute) writer.attribute(key, value);
  }
}

function tooMany(): IngestRejectedError {
  const message = `at most ${REQUEST_MAX_RECORDS} records in a request`;
  return new IngestRejectedError(message, [{ path: "", code: "too_big", message }]);
}

function isLevel(text: string): text is Level {
  return Object.hasOwn(LEVEL_NUMBERS, text);
}

function placeOf({ number }: Line): string {
  return `line ${number}`;
}

function textOf({ bytes }: Line): string {
  return decodeLenient(bytes, 0, bytes.length).trim();
}
