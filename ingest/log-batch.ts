import { writeBlock } from "./native/block.ts";
import type { ByteBuffer } from "./native/byte-buffer.ts";
import type { Column } from "./native/column.ts";
import { StringArrayColumn, StringMapColumn } from "./native/container-columns.ts";
import { LowCardinalityColumn } from "./native/low-cardinality-column.ts";
import { Enum8Column, Int64Column, UInt32Column } from "./native/number-column.ts";
import { runsWithout } from "./native/row-runs.ts";
import { StringColumn } from "./native/string-column.ts";
import { appendMilliseconds } from "./timestamp.ts";

/** The stored number of each level; 0 means that the entry named none. */
export const LEVEL_NUMBERS = { trace: 1, debug: 2, info: 3, warn: 4, error: 5, fatal: 6 } as const;
export type Level = keyof typeof LEVEL_NUMBERS;

const LEVEL_TYPE = `Enum8('' = 0, ${Object.entries(LEVEL_NUMBERS)
  .map(([name, number]) => `'${name}' = ${number}`)
  .join(", ")})`;

/**
 * Log entries as the columns of the `logs` table. Decoders append straight to the columns and end each entry with
 * `endRow`; what an entry leaves out is filled in there. Entries of many requests and organizations share one batch:
 * it becomes one record of the write-ahead log and one block of an insert.
 */
export class LogBatch {
  readonly #organizationId = new UInt32Column();
  readonly #receivedAt = new Int64Column("DateTime64(3, 'UTC')");
  readonly #id = new Int64Column("UInt64");
  readonly ts = new Int64Column("DateTime64(9, 'UTC')");
  readonly level = new Enum8Column(LEVEL_TYPE);
  readonly service = new LowCardinalityColumn();
  readonly source = new LowCardinalityColumn();
  readonly host = new LowCardinalityColumn();
  readonly message = new StringColumn();
  readonly traceId = new StringColumn();
  readonly spanId = new StringColumn();
  readonly eventId = new StringColumn();
  /** Top-level attributes: a string value as it is, any other value as its JSON text. */
  readonly attrs = new StringMapColumn();
  /** The keys of `attrs` whose value is JSON text. */
  readonly attrJsonKeys = new StringArrayColumn();

  readonly #columns: ReadonlyArray<readonly [string, Column]> = [
    ["organization_id", this.#organizationId],
    ["ts", this.ts],
    ["id", this.#id],
    ["received_at", this.#receivedAt],
    ["level", this.level],
    ["service", this.service],
    ["source", this.source],
    ["host", this.host],
    ["message", this.message],
    ["trace_id", this.traceId],
    ["span_id", this.spanId],
    ["event_id", this.eventId],
    ["attrs", this.attrs],
    ["attr_json_keys", this.attrJsonKeys],
  ];

  #rows = 0;
  #requestStart = 0;
  #requestEventIdStart = 0;
  #organization = 0;
  #receivedAtMs = 0;

  get rows(): number {
    return this.#rows;
  }

  /** Rows of the request that is being decoded. */
  get requestRows(): number {
    return this.#rows - this.#requestStart;
  }

  /** Bytes of the columns that grow with the content: a measure of size, not the exact size of the block. */
  get contentBytes(): number {
    return this.message.data.length + this.attrs.values.data.length + this.#rows * 48;
  }

  /** About what the columns take as a block: far from it only for texts that are all different and short. */
  get columnBytes(): number {
    const { attrs, attrJsonKeys } = this;
    return this.contentBytes + attrs.keys.bytes + attrJsonKeys.elements.bytes;
  }

  /** The same of all entries, whether they are still in the columns or not. */
  get blockBytes(): number {
    return this.columnBytes;
  }

  /** Starts the entries of one request; they are kept by `keepRequest` or taken back by `rewindRequest`. */
  beginRequest(organizationId: number, receivedAtMs: number): void {
    for (const [, column] of this.#columns) column.bookmark();
    this.#requestStart = this.#rows;
    this.#requestEventIdStart = this.eventId.data.length;
    this.#organization = organizationId;
    this.#receivedAtMs = receivedAtMs;
  }

  /** Ends an entry. Its message and attributes must have been appended; anything else may be missing. */
  endRow(): void {
    const rows = ++this.#rows;
    if (this.ts.rows < rows) appendMilliseconds(this.ts, this.#receivedAtMs);
    if (this.level.rows < rows) this.level.append(0);
    if (this.service.rows < rows) this.service.appendEmpty();
    if (this.source.rows < rows) this.source.appendEmpty();
    if (this.host.rows < rows) this.host.appendEmpty();
    if (this.eventId.rows < rows) this.eventId.appendEmpty();
    if (this.attrs.rows < rows) this.attrs.endRow();
    if (this.attrJsonKeys.rows < rows) this.attrJsonKeys.endRow();
  }

  /** Ends rows of which every column but those that `keepRequest` fills has been appended. */
  endRows(count: number): void {
    this.#rows += count;
  }

  keepRequest(): void {
    const rows = this.#rows;
    this.#organizationId.fillTo(rows, this.#organization);
    while (this.#receivedAt.rows < rows) this.#receivedAt.appendNumber(this.#receivedAtMs);
    this.traceId.fillTo(rows);
    this.spanId.fillTo(rows);
    this.#requestStart = rows;
  }

  /** Calls `visit` for every event id of the present request, with the entry's position in the request. */
  forEachRequestEventId(
    visit: (entry: number, source: Uint8Array, start: number, end: number) => void,
  ): void {
    const rows = this.requestRows;
    const { bytes, length } = this.eventId.data;
    // One byte a row means that all of them are empty, which is the common case.
    let at = this.#requestEventIdStart;
    if (length - at === rows) return;
    for (let entry = 0; entry < rows; entry++) {
      // At most 128 characters of at most 4 bytes: the length takes one or two bytes.
      let size = bytes[at++] ?? 0;
      if (size >= 0x80) size = (size & 0x7f) | ((bytes[at++] ?? 0) << 7);
      if (size > 0) visit(entry, bytes, at, at + size);
      at += size;
    }
  }

  /** Whether every name that some rows of the present request have, by their positions in it, was in the batch before it. */
  areOfOlderNames(rows: ReadonlySet<number>): boolean {
    const columns = [this.service, this.source, this.host];
    return (
      columns.every((names) => [...rows].every((row) => names.isOfOlder(row, row + 1))) &&
      this.attrs.areOfOlder(rows) &&
      this.attrJsonKeys.areOfOlder(rows)
    );
  }

  /** Takes some rows of the present request back, by their positions in it. Their names stay, as if others had them. */
  dropRows(dropped: ReadonlySet<number>): void {
    const { ts, level, service, source, host, message, traceId, spanId, eventId, attrs, attrJsonKeys } = this;
    for (const id of [traceId, spanId]) id.fillTo(this.#rows);
    const runs = runsWithout(this.requestRows, dropped);
    for (const column of [
      ts,
      level,
      service,
      source,
      host,
      message,
      traceId,
      spanId,
      eventId,
      attrs,
      attrJsonKeys,
    ])
      column.keepRuns(runs);
    this.#rows -= dropped.size;
  }

  /** Takes the rows of the present request back; the request stays open. */
  rewindRequest(): void {
    for (const [, column] of this.#columns) column.rewind();
    this.#rows = this.#requestStart;
  }

  /**
   * Gives every row its id, `firstId` and upwards in steps of `idStep`, and appends the block to `out`.
   * Called once per batch, before `clear`.
   */
  writeTo(out: ByteBuffer, firstId: bigint, idStep: number): void {
    let low = Number(BigInt.asUintN(32, firstId));
    let high = Number(firstId >> 32n);
    for (let row = 0; row < this.#rows; row++) {
      this.#id.append(low, high);
      low += idStep;
      if (low >= 2 ** 32) {
        low -= 2 ** 32;
        high++;
      }
    }
    writeBlock(out, this.#columns);
  }

  clear(): void {
    for (const [, column] of this.#columns) column.clear();
    this.#rows = 0;
    this.#requestStart = 0;
  }
}

/** Stands for the batch of a writer that none was given yet: nothing is ever written to it, and there are many writers. */
export const NO_BATCH = new LogBatch();
