import { isDeeperThan, isRawNumber } from "../decode/json-body.ts";
import { IngestRejectedError } from "../errors.ts";
import {
  ATTRIBUTE_KEY_MAX_CHARS,
  ATTRIBUTE_VALUE_MAX_BYTES,
  ATTRIBUTES_MAX_COUNT,
  EVENT_ID_MAX_CHARS,
  HOST_MAX_CHARS,
  JSON_MAX_DEPTH,
  MESSAGE_MAX_CHARS,
  REQUEST_MAX_RECORDS,
  SERVICE_MAX_CHARS,
  SOURCE_MAX_CHARS,
} from "../limits.ts";
import { LEVEL_NUMBERS, type Level, LogBatch } from "../log-batch.ts";
import type { LowCardinalityColumn } from "../native/low-cardinality-column.ts";
import { appendMilliseconds, appendNanoseconds } from "../timestamp.ts";
import { appendEpoch, appendIsoText, appendUnixNano } from "./record-time.ts";
import { type RejectedRecord, type Rejection, RejectionList } from "./rejections.ts";
import { cutToBytes, cutToChars } from "./text-limits.ts";

/** Set on an entry of which something was cut. */
const TRUNCATED = "_truncated";
/** How many attributes an entry had beyond those that are kept. */
const DROPPED_ATTRIBUTES = "_dropped_attributes";
/** The two above always have room. */
const OWN_ATTRIBUTES_MAX_COUNT = ATTRIBUTES_MAX_COUNT - 2;

/**
 * Writes records of foreign formats as entries. Whatever a record holds is kept, cut where the limits of an entry
 * demand it and marked then, and never refused for its size. Between `begin` and `end` every field may be given once;
 * of a field given again the first value stays.
 */
export class RecordWriter {
  #batch = new LogBatch();
  #skip: ReadonlySet<number> = new Set();
  #rejections = new RejectionList();
  #defaultTimeMs: number | null = null;
  #accepted = 0;
  /** The present record is stored already, and so nothing of it is written. */
  #skipped = false;
  #truncated = false;
  #attributes = 0;
  #droppedAttributes = 0;
  /** Number of an attribute's name in the batch -> the record that used it last; finds a name given twice. */
  #keyUses = new Uint32Array(1024);
  #recordSerial = 0;

  /**
   * Starts a request of `batch`, which is open. Records at the positions in `skip` are left out. `defaultTimeMs` is
   * the time of records that have none, the time of receipt when null.
   */
  open(batch: LogBatch, skip: ReadonlySet<number>, defaultTimeMs: number | null = null): void {
    this.#batch = batch;
    this.#skip = skip;
    this.#rejections = new RejectionList();
    this.#defaultTimeMs = defaultTimeMs;
    this.#accepted = 0;
  }

  /** Records that became entries, those that were left out included. */
  get accepted(): number {
    return this.#accepted;
  }

  get rejected(): number {
    return this.#rejections.count;
  }

  /** The rejected records that are kept, in the order of the request. */
  get rejections(): readonly RejectedRecord[] {
    return this.#rejections.kept;
  }

  /** Gives a record up, instead of `begin` and `end`. */
  reject(rejection: Rejection): void {
    this.#countRecord();
    this.#rejections.add(rejection);
  }

  begin(): void {
    this.#countRecord();
    this.#skipped = this.#skip.has(this.#accepted);
    this.#truncated = false;
    this.#attributes = 0;
    this.#droppedAttributes = 0;
    // Serial 0 means "never used"; when the counter wraps, old marks must not look new.
    if (this.#recordSerial === 0xffffffff) {
      this.#keyUses.fill(0);
      this.#recordSerial = 0;
    }
    this.#recordSerial++;
  }

  end(): void {
    this.#accepted++;
    if (this.#skipped) return;
    const batch = this.#batch;
    const { message, ts } = batch;
    if (message.rows === batch.rows) message.appendEmpty();
    if (ts.rows === batch.rows && this.#defaultTimeMs !== null) appendMilliseconds(ts, this.#defaultTimeMs);
    if (this.#truncated) this.#appendAttribute(TRUNCATED, "true", true);
    if (this.#droppedAttributes > 0)
      this.#appendAttribute(DROPPED_ATTRIBUTES, String(this.#droppedAttributes), true);
    batch.endRow();
  }

  message(text: string): void {
    const { message, rows } = this.#batch;
    if (this.#skipped || message.rows > rows) return;
    message.append(this.#cut(text, MESSAGE_MAX_CHARS));
  }

  level(level: Level): void {
    const { level: column, rows } = this.#batch;
    if (!this.#skipped && column.rows === rows) column.append(LEVEL_NUMBERS[level]);
  }

  service(text: string): void {
    this.#appendName(this.#batch.service, text, SERVICE_MAX_CHARS);
  }

  source(text: string): void {
    this.#appendName(this.#batch.source, text, SOURCE_MAX_CHARS);
  }

  host(text: string): void {
    this.#appendName(this.#batch.host, text, HOST_MAX_CHARS);
  }

  /** Hexadecimal digits in lower case. */
  traceId(text: string): void {
    this.#appendId(this.#batch.traceId, text);
  }

  /** Hexadecimal digits in lower case. */
  spanId(text: string): void {
    this.#appendId(this.#batch.spanId, text);
  }

  /** What the sender calls the record by, again whenever it repeats it; a long one is remembered by its SHA-256. */
  eventId(text: string): void {
    const { eventId, rows } = this.#batch;
    if (this.#skipped || text === "" || eventId.rows > rows) return;
    const fits = cutToChars(text, EVENT_ID_MAX_CHARS).length === text.length;
    eventId.append(fits ? text : new Bun.CryptoHasher("sha256").update(text).digest("hex"));
  }

  /** An RFC 3339 date-time with an offset. This and the other times answer false when it is none the store can hold. */
  timeIso(text: string): boolean {
    return this.#hasTime || appendIsoText(this.#batch.ts, text);
  }

  /** A positive number of seconds, milli-, micro- or nanoseconds since 1970 by its magnitude, perhaps with a fraction. */
  timeEpoch(value: number | string): boolean {
    return this.#hasTime || appendEpoch(this.#batch.ts, value);
  }

  /** A positive whole number of nanoseconds since 1970. */
  timeUnixNano(value: number | string): boolean {
    return this.#hasTime || appendUnixNano(this.#batch.ts, value);
  }

  /** Whole seconds since 1970 and nanoseconds from 0 to 999 999 999. */
  timeParts(seconds: number, nanos: number): boolean {
    return this.#hasTime || appendNanoseconds(this.#batch.ts, seconds, nanos);
  }

  /** A string is kept as it is, any other value as its JSON text, and undefined is no value. */
  attribute(key: string, value: unknown): void {
    if (this.#skipped || value === undefined) return;
    if (typeof value === "string") {
      const text = cutToBytes(value, ATTRIBUTE_VALUE_MAX_BYTES);
      if (text.length < value.length) this.#truncated = true;
      this.#addAttribute(key, text, false);
      return;
    }
    // A null is an empty text, like a value that is not there: only that its key is among the JSON keys shows it.
    if (value === null) {
      this.#addAttribute(key, "", true);
      return;
    }
    const json = jsonText(value);
    const text = cutToBytes(json, ATTRIBUTE_VALUE_MAX_BYTES);
    const isWhole = text.length === json.length && !isDeeperThan(value, JSON_MAX_DEPTH);
    if (text.length < json.length) this.#truncated = true;
    // Half a JSON text is none.
    this.#addAttribute(key, text, isWhole);
  }

  /** The members of an object, those of nested objects under their names joined with dots. */
  attributes(prefix: string, object: Readonly<Record<string, unknown>>, depth = 0): void {
    if (this.#skipped) return;
    for (const [name, value] of Object.entries(object)) {
      const key = prefix + name;
      if (isFlattened(value) && depth < JSON_MAX_DEPTH) this.attributes(`${key}.`, value, depth + 1);
      else this.attribute(key, value);
    }
  }

  get #hasTime(): boolean {
    return this.#skipped || this.#batch.ts.rows > this.#batch.rows;
  }

  #countRecord(): void {
    if (this.#accepted + this.#rejections.count < REQUEST_MAX_RECORDS) return;
    const message = `at most ${REQUEST_MAX_RECORDS} records in a request`;
    throw new IngestRejectedError(message, [{ path: "", code: "too_big", message }]);
  }

  #cut(text: string, maxChars: number): string {
    const kept = cutToChars(text, maxChars);
    if (kept.length < text.length) this.#truncated = true;
    return kept;
  }

  #appendName(column: LowCardinalityColumn, text: string, maxChars: number): void {
    if (this.#skipped || text === "" || column.rows > this.#batch.rows) return;
    column.append(this.#cut(text, maxChars));
  }

  #appendId(column: LogBatch["traceId"], text: string): void {
    const { rows } = this.#batch;
    if (this.#skipped || text === "" || column.rows > rows) return;
    // The column is only filled up at the end of the request, because most requests have none.
    column.fillTo(rows);
    column.append(text);
  }

  #addAttribute(key: string, text: string, isJson: boolean): void {
    if (this.#attributes < OWN_ATTRIBUTES_MAX_COUNT)
      this.#appendAttribute(this.#cut(key, ATTRIBUTE_KEY_MAX_CHARS), text, isJson);
    else this.#droppedAttributes++;
  }

  #appendAttribute(key: string, text: string, isJson: boolean): void {
    const { attrs, attrJsonKeys } = this.#batch;
    const number = attrs.keys.numberOf(key);
    if (!this.#markKey(number)) return;
    this.#attributes++;
    attrs.keys.appendNumber(number);
    attrs.values.append(text);
    if (isJson) attrJsonKeys.elements.append(key);
  }

  /** Notes that the present record uses a name; false when it did already. */
  #markKey(key: number): boolean {
    if (key >= this.#keyUses.length) {
      const grown = new Uint32Array(Math.max(key + 1, this.#keyUses.length * 2));
      grown.set(this.#keyUses);
      this.#keyUses = grown;
    }
    if (this.#keyUses[key] === this.#recordSerial) return false;
    this.#keyUses[key] = this.#recordSerial;
    return true;
  }
}

/** Whether an attribute's value is taken apart: an object that has members. */
function isFlattened(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || isRawNumber(value)) return false;
  for (const _ in value) return true;
  return false;
}

/** The JSON text of a parsed value; of one that nests deeper than the runtime can write, a note that it did. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return "(nested too deep)";
    throw error;
  }
}
