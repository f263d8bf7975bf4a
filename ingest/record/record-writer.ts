import {
  EVENT_ID_MAX_CHARS,
  MESSAGE_MAX_CHARS,
  NAME_MAX_CHARS,
  REQUEST_MAX_BLOCK_BYTES,
  REQUEST_MAX_RECORDS,
} from "../limits.ts";
import { LEVEL_NUMBERS, type Level, type LogBatch, NO_BATCH } from "../log-batch.ts";
import type { LowCardinalityColumn } from "../native/low-cardinality-column.ts";
import { appendIsoTimestamp, appendMilliseconds, appendNanoseconds } from "../timestamp.ts";
import { AttributeWriter } from "./attribute-writer.ts";
import type { InheritedFields } from "./inherited-fields.ts";
import {
  appendEpoch,
  appendEpochBytes,
  appendIsoText,
  appendUnixNano,
  appendUnixNanoBytes,
} from "./record-time.ts";
import { type RejectedRecord, type Rejection, RejectionList } from "./rejections.ts";
import { checkBlockBytes, checkRecords } from "./request-bounds.ts";
import { cutToChars, endOfChars } from "./text-limits.ts";

/**
 * Writes records of foreign formats as entries. Whatever a record holds is kept, cut and marked where the limits of an
 * entry demand it. Between `begin` and `end` every field may be given once; of a field given again the first value stays.
 */
export class RecordWriter {
  #batch: LogBatch = NO_BATCH;
  #skip: ReadonlySet<number> = new Set();
  #rejections = new RejectionList();
  #defaultTimeMs: number | null = null;
  #accepted = 0;
  #maxRecords = REQUEST_MAX_RECORDS;
  #maxBlockBytes = 0;
  /** The present record is stored already, and so nothing of it is written. */
  #skipped = false;
  readonly #attributes = new AttributeWriter();

  /** Starts a request of `batch`, which is open, without the records at the positions in `skip`. `defaultTimeMs`: of those without a time. */
  open(
    batch: LogBatch,
    skip: ReadonlySet<number>,
    defaultTimeMs: number | null = null,
    maxRecords = REQUEST_MAX_RECORDS,
  ): void {
    this.#batch = batch;
    this.#skip = skip;
    this.#rejections = new RejectionList();
    this.#defaultTimeMs = defaultTimeMs;
    this.#accepted = 0;
    this.#maxRecords = maxRecords;
    this.#maxBlockBytes = batch.blockBytes + REQUEST_MAX_BLOCK_BYTES;
    this.#attributes.open(batch);
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
    checkRecords(this.#accepted + this.rejected, this.#maxRecords);
    this.#rejections.add(rejection);
  }

  begin(): void {
    checkRecords(this.#accepted + this.rejected, this.#maxRecords);
    this.#skipped = this.#skip.has(this.#accepted);
    this.#attributes.beginRecord();
  }

  end(): void {
    this.#accepted++;
    if (this.#skipped) return;
    const batch = this.#batch;
    const { message, ts } = batch;
    if (message.rows === batch.rows) message.appendEmpty();
    if (ts.rows === batch.rows && this.#defaultTimeMs !== null) appendMilliseconds(ts, this.#defaultTimeMs);
    this.#attributes.endRecord();
    batch.endRow();
    // A slice was cut off, and the columns number their texts anew.
    if (batch.rows === 0) this.#attributes.renumberInherited();
    checkBlockBytes(batch.blockBytes, this.#maxBlockBytes);
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
    this.#appendName(this.#batch.service, text, NAME_MAX_CHARS.service);
  }

  source(text: string): void {
    this.#appendName(this.#batch.source, text, NAME_MAX_CHARS.source);
  }

  host(text: string): void {
    this.#appendName(this.#batch.host, text, NAME_MAX_CHARS.host);
  }

  /** Hexadecimal digits in lower case, as the next one. */
  traceId(text: string): void {
    this.#appendId(this.#batch.traceId, text);
  }

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

  /** A date-time without an offset, which counts as UTC. */
  timeLocal(text: string): boolean {
    return this.timeIso(`${text}Z`);
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
    if (!this.#skipped) this.#attributes.add(key, value);
  }

  /** The members of an object, those of nested objects under their names joined with dots. */
  attributes(prefix: string, object: Readonly<Record<string, unknown>>): void {
    if (!this.#skipped) this.#attributes.addMembers(prefix, object);
  }

  /** The following are for decoders that hold UTF-8 instead of strings: `source[start, end)`. */
  messageBytes(source: Uint8Array, start: number, end: number): void {
    const { message, rows } = this.#batch;
    if (this.#skipped || message.rows > rows) return;
    const keptEnd = endOfChars(source, start, end, MESSAGE_MAX_CHARS);
    if (keptEnd < end) this.#attributes.truncated = true;
    message.appendSlice(source, start, keptEnd);
  }

  /** A service, source or host. */
  nameBytes(field: "service" | "source" | "host", source: Uint8Array, start: number, end: number): void {
    const column = this.#batch[field];
    if (this.#skipped || start === end || column.rows > this.#batch.rows) return;
    const keptEnd = endOfChars(source, start, end, NAME_MAX_CHARS[field]);
    if (keptEnd < end) this.#attributes.truncated = true;
    column.appendSlice(source, start, keptEnd);
  }

  traceIdBytes(source: Uint8Array, start: number, end: number): void {
    this.#appendIdBytes(this.#batch.traceId, source, start, end);
  }

  spanIdBytes(source: Uint8Array, start: number, end: number): void {
    this.#appendIdBytes(this.#batch.spanId, source, start, end);
  }

  /** As the times of the same names; an epoch may have a fraction. */
  timeIsoBytes(source: Uint8Array, start: number, end: number): boolean {
    return this.#hasTime || appendIsoTimestamp(this.#batch.ts, source, start, end);
  }

  timeEpochBytes(source: Uint8Array, start: number, end: number): boolean {
    return this.#hasTime || appendEpochBytes(this.#batch.ts, source, start, end);
  }

  /** Digits; false as with the other times. */
  timeUnixNanoBytes(source: Uint8Array, start: number, end: number): boolean {
    return this.#hasTime || appendUnixNanoBytes(this.#batch.ts, source, start, end);
  }

  /** With `isJson` the value is a JSON text, the empty one a null. */
  attributeBytes(
    name: Uint8Array,
    nameStart: number,
    nameEnd: number,
    source: Uint8Array,
    start: number,
    end: number,
    isJson: boolean,
  ): void {
    if (!this.#skipped) this.#attributes.addBytes(name, nameStart, nameEnd, source, start, end, isJson);
  }

  /** Starts to collect what many records of the request inherit; not between `begin` and `end`. */
  beginInherited(inherited: InheritedFields): void {
    this.#attributes.beginInherited(inherited);
  }

  /** A service, source or host that is inherited. */
  inheritedName(
    inherited: InheritedFields,
    field: "service" | "source" | "host",
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    const keptEnd = endOfChars(bytes, start, end, NAME_MAX_CHARS[field]);
    if (keptEnd < end) inherited.truncated = true;
    inherited[field] = this.#batch[field].numberOfSlice(bytes, start, keptEnd, 0);
    inherited.names[field] = bytes.slice(start, keptEnd);
  }

  /** As `attributeBytes`, for what is inherited. */
  inheritedAttribute(
    inherited: InheritedFields,
    name: Uint8Array,
    nameStart: number,
    nameEnd: number,
    source: Uint8Array,
    start: number,
    end: number,
    isJson: boolean,
  ): void {
    this.#attributes.addInheritedBytes(inherited, name, nameStart, nameEnd, source, start, end, isJson);
  }

  /** Adds all that is inherited, except what the record has itself: the last thing of a record. */
  inherit(inherited: InheritedFields): void {
    if (this.#skipped) return;
    const { rows, service, source, host } = this.#batch;
    if (inherited.service > 0 && service.rows === rows) service.appendNumber(inherited.service);
    if (inherited.source > 0 && source.rows === rows) source.appendNumber(inherited.source);
    if (inherited.host > 0 && host.rows === rows) host.appendNumber(inherited.host);
    this.#attributes.inherit(inherited);
  }

  get #hasTime(): boolean {
    return this.#skipped || this.#batch.ts.rows > this.#batch.rows;
  }

  #cut(text: string, maxChars: number): string {
    const kept = cutToChars(text, maxChars);
    if (kept.length < text.length) this.#attributes.truncated = true;
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

  #appendIdBytes(column: LogBatch["traceId"], source: Uint8Array, start: number, end: number): void {
    const { rows } = this.#batch;
    if (this.#skipped || start === end || column.rows > rows) return;
    column.fillTo(rows);
    column.appendSlice(source, start, end);
  }
}
