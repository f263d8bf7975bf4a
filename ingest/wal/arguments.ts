import { ALIGNMENT, KEY_BYTES, recordBytes } from "./format.ts";
import { APPEND_BYTES_MAX, APPEND_KEY_BYTES_MAX, SEGMENT_BYTES_MIN } from "./limits.ts";
import type { WalAppend, WalOptions } from "./types.ts";

const ROWS_MAX = 2 ** 32 - 1;

/** Throws RangeError for options no log can work with. */
export function assertOptions({ maxBytes, segmentBytes, keyRetentionMs }: WalOptions): void {
  if (
    !Number.isSafeInteger(segmentBytes) ||
    segmentBytes < SEGMENT_BYTES_MIN ||
    segmentBytes % ALIGNMENT !== 0
  ) {
    throw new RangeError(`segmentBytes must be a multiple of ${ALIGNMENT}, at least ${SEGMENT_BYTES_MIN}`);
  }
  // With one segment flushed but still appended to, there must be room for another.
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 2 * segmentBytes) {
    throw new RangeError("maxBytes must be at least two segments");
  }
  if (!(keyRetentionMs >= 0)) throw new RangeError("keyRetentionMs must not be negative");
}

/** Throws RangeError for an append that breaks the types' contract: a bug of the caller. */
export function assertAppend(records: readonly WalAppend[]): void {
  if (records.length === 0) throw new RangeError("an append has at least one record");
  for (const record of records) assertRecord(record);
  const keyBytes = records.reduce((sum, record) => sum + record.keyBytes, 0);
  if (keyBytes > APPEND_KEY_BYTES_MAX) throw new RangeError(`an append has ${keyBytes} bytes of keys`);
}

function assertRecord({ rows, receivedAtMs, bytes, keyBytes, blockBytes }: WalAppend): void {
  if (!Number.isSafeInteger(rows) || rows < 1 || rows > ROWS_MAX) throw new RangeError(`rows is ${rows}`);
  if (!Number.isSafeInteger(receivedAtMs) || receivedAtMs < 0) {
    throw new RangeError(`receivedAtMs is ${receivedAtMs}`);
  }
  if (keyBytes % KEY_BYTES !== 0) throw new RangeError(`keys have ${keyBytes} bytes, not 16 a key`);
  if (bytes.length !== recordBytes(keyBytes, blockBytes))
    throw new RangeError(`a record has ${bytes.length} bytes`);
}

/** The most that records appended together may take in a log of such segments. */
export function appendBytesMax(segmentBytes: number): number {
  return Math.min(APPEND_BYTES_MAX, segmentBytes);
}
