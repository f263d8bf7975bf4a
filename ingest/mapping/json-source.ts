import { isDeeperThan, isJsonObject, tryParseJson } from "../decode/json-body.ts";
import { decodeLenient } from "../decode/lenient-text.ts";
import { linesOf } from "../decode/lines.ts";
import { IngestRejectedError } from "../errors.ts";
import { JSON_MAX_DEPTH } from "../limits.ts";
import type { RecordDecoder } from "../record/record-decoder.ts";
import type { RecordWriter } from "../record/record-writer.ts";
import { type CompiledMapping, compileMapping } from "./compile-mapping.ts";
import { LearnedTexts, type SourceDecoder } from "./learned-texts.ts";
import type { Mapping, SourceFormat } from "./mapping.ts";
import { parsePath } from "./path.ts";
import { Places } from "./places.ts";

type JsonFormat = Extract<SourceFormat, "json" | "ndjson">;

interface JsonSource {
  readonly format: JsonFormat;
  readonly mapping: Mapping;
  readonly learning: boolean;
}

/** A body may nest deeper than a record, so that one bad record does not take the others with it. */
const BODY_MAX_DEPTH = 256;
/** The place of a record that is the body. */
const WHOLE_BODY = "body";
const TOO_DEEP = `the record nests deeper than ${JSON_MAX_DEPTH} levels`;

/** One record on its way into the store. */
interface SourceRecord {
  readonly value: unknown;
  /** Where it is in the request. */
  readonly place: string;
  /** Its text as it came, where that is known. */
  readonly text?: string;
}

type Visit = (record: SourceRecord) => void;
type WriteRecord = (record: SourceRecord, writer: RecordWriter) => void;

/** Decodes bodies of JSON: an object, an array of them, or lines of either; records may be wrapped, see `records`. */
export class JsonSourceDecoder implements SourceDecoder {
  readonly format: JsonFormat;
  readonly learned = new LearnedTexts();
  readonly #learning: boolean;
  readonly #unwrap: Unwrap;
  readonly #write: WriteRecord;

  constructor({ format, mapping, learning }: JsonSource) {
    this.format = format;
    this.#learning = learning;
    this.#unwrap = compileUnwrap(mapping.records);
    this.#write = learning
      ? (record, writer) => writeRaw(record, writer, this.learned)
      : writeMapped(compileMapping(mapping));
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    this.learned.clear();
    const visit: Visit = (record) => this.#write(record, writer);
    if (this.format === "json") decodeJson(body, this.#learning, this.#unwrap, visit);
    else decodeLines(body, writer, this.#learning, (record) => this.#unwrap(record, visit));
  }
}

/** Decodes single records of JSON, one a line, as the quarantine keeps them: what wrapped them is gone. */
export class JsonRecordDecoder implements RecordDecoder {
  readonly format: JsonFormat;
  readonly #write: WriteRecord;

  constructor({ format, mapping }: Pick<JsonSource, "format" | "mapping">) {
    this.format = format;
    this.#write = writeMapped(compileMapping(mapping));
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    decodeLines(body, writer, false, (record) => this.#write(record, writer));
  }
}

function decodeJson(body: Uint8Array, learning: boolean, unwrap: Unwrap, visit: Visit): void {
  const text = textOf(body);
  const parsed = tryParseJson(text, BODY_MAX_DEPTH);
  if (parsed.ok) unwrap({ value: parsed.value, place: WHOLE_BODY }, visit);
  else if (learning)
    // What comes is to be seen, whatever it is.
    for (const { number, bytes } of linesOf(body))
      visit({ value: null, place: `line ${number}`, text: textOf(bytes) });
  else {
    const message = `the body ${parsed.reason}`;
    throw new IngestRejectedError(message, [{ path: "", code: "custom", message }]);
  }
}

function decodeLines(body: Uint8Array, writer: RecordWriter, learning: boolean, visit: Visit): void {
  for (const { number, bytes } of linesOf(body)) {
    const place = `line ${number}`;
    const text = textOf(bytes).trim();
    const parsed = tryParseJson(text, BODY_MAX_DEPTH);
    if (parsed.ok) visit({ value: parsed.value, place, text });
    else if (learning) visit({ value: null, place, text });
    else writer.reject({ place, reason: `the line ${parsed.reason}`, raw: bytes });
  }
}

function textOf(bytes: Uint8Array): string {
  return decodeLenient(bytes, 0, bytes.length).replace(/^\uFEFF/, "");
}

type Unwrap = (record: SourceRecord, visit: Visit) => void;

/** Visits the records of a value: itself or the elements of an array, and of each what is at `path`, if an array is. */
function compileUnwrap(path: string | undefined): Unwrap {
  const segments = path === undefined ? null : parsePath(path);
  const place = segments === null ? null : new Places().add(segments);
  const visitAt: Unwrap = (record, visit) => {
    const inner = place === null || !isJsonObject(record.value) ? undefined : place.find(record.value);
    if (!Array.isArray(inner)) visit(record);
    else
      for (const [i, value] of inner.entries())
        visit({ value, place: placeIn(record.place, [...(segments ?? []), String(i)]) });
  };
  return (record, visit) => {
    if (!Array.isArray(record.value)) visitAt(record, visit);
    else
      for (const [i, value] of record.value.entries())
        visitAt({ value, place: placeIn(record.place, [String(i)]) }, visit);
  };
}

/** A JSON pointer into the body, or into the line that the record is in. */
function placeIn(place: string, segments: readonly string[]): string {
  const pointer = segments
    .map((segment) => `/${segment.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
  if (place === WHOLE_BODY) return pointer;
  return place.includes("/") || !place.startsWith("line ") ? place + pointer : `${place} ${pointer}`;
}

function writeMapped(map: CompiledMapping): WriteRecord {
  return ({ value, place, text }, writer) => {
    const reason = problemOf(value) ?? (isJsonObject(value) ? map(value, writer) : null);
    if (reason !== null) writer.reject({ place, reason, raw: text ?? JSON.stringify(value) });
  };
}

function problemOf(value: unknown): string | null {
  if (!isJsonObject(value)) return "the record is no JSON object";
  return isDeeperThan(value, JSON_MAX_DEPTH) ? TOO_DEEP : null;
}

function writeRaw({ value, text }: SourceRecord, writer: RecordWriter, learned: LearnedTexts): void {
  const raw = text ?? JSON.stringify(value);
  learned.add(raw);
  writer.begin();
  writer.message(raw);
  if (isJsonObject(value)) writer.attributes("", value);
  writer.end();
}
