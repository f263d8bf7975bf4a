import type { LogBatch } from "./log-batch.ts";
import { LOG_ID_STEP } from "./log-id.ts";
import type { ByteBuffer } from "./native/byte-buffer.ts";
import { ALIGNMENT, HEADER_BYTES } from "./wal/format.ts";

/** Entries laid out as a record of the write-ahead log: the room for its header, their keys, their block. */
export interface EntryRecord {
  readonly rows: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly keyBytes: number;
  readonly blockBytes: number;
}

/**
 * Writes the entries of a batch whose requests are all kept, with ids from `firstId` on, in the place of what is in `out`,
 * of which the record's bytes are a view.
 */
export function writeEntries(
  out: ByteBuffer,
  batch: LogBatch,
  keys: Uint8Array,
  firstId: bigint,
): EntryRecord {
  const { rows } = batch;
  out.clear();
  // Growing by doubling would copy a large batch twice over.
  out.reserve(HEADER_BYTES + keys.length + batch.columnBytes + ALIGNMENT);
  out.length = HEADER_BYTES;
  out.writeBytes(keys);
  batch.writeTo(out, firstId, LOG_ID_STEP);
  const blockBytes = out.length - HEADER_BYTES - keys.length;
  while (out.length % ALIGNMENT !== 0) out.writeByte(0);
  return { rows, bytes: out.view(), keyBytes: keys.length, blockBytes };
}

/** The entries in ClickHouse's Native format. */
export function blockOf({ bytes, keyBytes, blockBytes }: EntryRecord): Uint8Array<ArrayBuffer> {
  const start = HEADER_BYTES + keyBytes;
  return bytes.subarray(start, start + blockBytes);
}

/** The keys as words. */
export function keysOf({ bytes, keyBytes }: EntryRecord): Uint32Array<ArrayBuffer> {
  return new Uint32Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, keyBytes / 4);
}
