import type { JsonObject } from "../decode/json-body.ts";
import { decodeLenient } from "../decode/lenient-text.ts";
import type { RecognisedEntry } from "../recognise/entry-joiner.ts";
import { LineRecogniser } from "../recognise/line-recogniser.ts";
import { nativeEntryOf } from "../recognise/native-entry.ts";
import { writeRecognised } from "../recognise/write-entry.ts";
import type { RecordField } from "../record/json-record-keys.ts";
import type { RecordFields } from "../record/record-fields.ts";
import type { RecordWriter } from "../record/record-writer.ts";
import { type CompiledMapping, compileMapping } from "./compile-mapping.ts";
import { LearnedTexts, type SourceDecoder } from "./learned-texts.ts";
import { type Mapping, saysNothing } from "./mapping.ts";

interface TextSource {
  readonly mapping: Mapping;
  readonly learning: boolean;
  /** The time of receipt, for times without a year. Milliseconds since 1970. */
  readonly now: () => number;
}

/** The members of a record by which a mapping sees what is no attribute of the entry. */
const ORIGINAL = "log.original";
const FIELD_MEMBERS: ReadonlySet<string> = new Set([
  "message",
  "ts",
  "level",
  "service",
  "source",
  "host",
  "event_id",
]);

/**
 * Decodes lines of text, whatever wrote them. A mapping sees an entry as it was recognised: the attributes, the fields under
 * their own names, and the text as it came as `log.original`, which is not kept unless the mapping says so; fields that the
 * mapping does not name stay as they were recognised.
 */
export class TextSourceDecoder implements SourceDecoder {
  readonly format = "text";
  readonly learned = new LearnedTexts();
  readonly #source: TextSource;
  readonly #map: CompiledMapping | null;
  #current: RecognisedEntry | null = null;

  constructor(source: TextSource) {
    this.#source = source;
    this.#map =
      source.learning || saysNothing(source.mapping)
        ? null
        : compileMapping(source.mapping, (...unnamed) => this.#writeUnnamed(...unnamed));
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    this.learned.clear();
    const { mapping, now } = this.#source;
    const recogniser = new LineRecogniser({ zone: mapping.zone ?? "UTC", yearReferenceMs: now() });
    const take = (entry: RecognisedEntry): void => this.#write(entry, body, writer);
    recogniser.push(body, take);
    recogniser.end(take);
    this.#current = null;
  }

  #write(entry: RecognisedEntry, body: Uint8Array, writer: RecordWriter): void {
    if (this.#source.learning) this.#writeRaw(entry, body, writer);
    else if (this.#map === null) writeWhole(entry, writer);
    else this.#writeMapped(this.#map, entry, body, writer);
  }

  #writeRaw(entry: RecognisedEntry, body: Uint8Array, writer: RecordWriter): void {
    const text = originalOf(entry, body);
    this.learned.add(text);
    writer.begin();
    writer.message(text);
    for (const [key, value] of entry.attributes) writer.attribute(key, value);
    writer.end();
  }

  #writeMapped(map: CompiledMapping, entry: RecognisedEntry, body: Uint8Array, writer: RecordWriter): void {
    this.#current = entry;
    const { attrs = {}, ...fields } = nativeEntryOf(entry);
    const record = { ...attrs, ...fields, [ORIGINAL]: originalOf(entry, body) };
    const reason = map(record, writer);
    if (reason !== null)
      writer.reject({ place: `byte ${entry.start}`, reason, raw: body.subarray(entry.start, entry.end) });
  }

  #writeUnnamed(writer: RecordFields, rest: JsonObject, given: ReadonlySet<RecordField>): void {
    const entry = this.#current;
    if (entry === null) return;
    writeRecognised(writer, entry, given);
    // What the mapping used is not in the rest any more; the fields are not attributes.
    for (const [key, value] of Object.entries(rest))
      if (key !== ORIGINAL && (!FIELD_MEMBERS.has(key) || entry.attributes.has(key)))
        writer.attribute(key, entry.attributes.has(key) ? entry.attributes.get(key) : value);
  }
}

function writeWhole(entry: RecognisedEntry, writer: RecordWriter): void {
  writer.begin();
  writeRecognised(writer, entry);
  for (const [key, value] of entry.attributes) writer.attribute(key, value);
  writer.end();
}

function originalOf({ start, end }: RecognisedEntry, body: Uint8Array): string {
  return decodeLenient(body, start, end).trimEnd();
}
