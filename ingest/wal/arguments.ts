import { ALIGNMENT, KEY_BYTES } from "./format.ts";
import { RECORD_BYTES_MAX, RECORD_KEY_BYTES_MAX, SEGMENT_BYTES_MIN } from "./limits.ts";
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
export function assertAppend({ rows, receivedAtMs, keys }: WalAppend): void {
  if (!Number.isSafeInteger(rows) || rows < 1 || rows > ROWS_MAX) throw new RangeError(`rows is ${rows}`);
  if (!Number.isSafeInteger(receivedAtMs) || receivedAtMs < 0) {
    throw new RangeError(`receivedAtMs is ${receivedAtMs}`);
  }
  if (keys.length % KEY_BYTES !== 0) throw new RangeError(`keys has ${keys.length} bytes, not 16 a key`);
  if (keys.length > RECORD_KEY_BYTES_MAX) throw new RangeError(`keys has ${keys.length} bytes`);
}

/** The largest record of a log with such segments. */
export function recordBytesMax(segmentBytes: number): number {
  return Math.min(RECORD_BYTES_MAX, segmentBytes);
}
