import { EVENT_KEY_WORDS, writeEventKey } from "./dedupe/event-key.ts";
import { type RequestKeys, requestSpan } from "./dedupe/request-keys.ts";
import { type EntryRecord, writeEntries } from "./entry-record.ts";
import type { LogBatch } from "./log-batch.ts";
import { ByteBuffer } from "./native/byte-buffer.ts";

/** Some of the entries of a large request, or all of them: a record of the log by itself, but for its ids. */
export interface EntrySlice extends EntryRecord {
  readonly organizationId: number;
  /** Entries that have an event id. The record's keys begin with theirs, in the order of the entries. */
  readonly eventKeys: number;
}

/** Whose entries are in a slice, and what a request that names itself is remembered by. */
export interface SliceOwner {
  readonly organizationId: number;
  readonly keys: RequestKeys | null;
}

/** Bytes of a slice that hold no content: what a column's head takes, and a dictionary. */
const HEAD_BYTES = 4096;

/** Ends the open request of a batch, makes a slice of its entries and empties the batch. The bytes are the slice's own. */
export function takeSlice(batch: LogBatch, { organizationId, keys }: SliceOwner): EntrySlice {
  const events = eventKeysOf(batch, organizationId);
  batch.keepRequest();
  const request =
    keys === null
      ? []
      : [keys.identity, keys.content, requestSpan(0, batch.rows)].map(({ buffer }) => buffer);
  const out = new ByteBuffer(HEAD_BYTES);
  const parts = [events.buffer, ...request].map((buffer) => new Uint8Array(buffer));
  const record = writeEntries(out, batch, Buffer.concat(parts), 0n);
  batch.clear();
  return { ...record, organizationId, eventKeys: events.length / EVENT_KEY_WORDS };
}

function eventKeysOf(batch: LogBatch, organizationId: number): Uint32Array<ArrayBuffer> {
  let count = 0;
  batch.forEachRequestEventId(() => count++);
  const keys = new Uint32Array(count * EVENT_KEY_WORDS);
  let at = 0;
  batch.forEachRequestEventId((_, source, start, end) => {
    writeEventKey(keys, at, organizationId, source, start, end);
    at += EVENT_KEY_WORDS;
  });
  return keys;
}
