import type { TimeRange } from "../../../../query/index.ts";
import { DEFAULT_WINDOW_MS, TREND_BUCKETS } from "./limits.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** The time whose patterns are asked for, and the equal length of time before it. Nanoseconds since 1970. */
export interface PatternWindow {
  readonly from: bigint;
  /** Belongs to the window. */
  readonly to: bigint;
  /** Where the time before begins. */
  readonly previousFrom: bigint;
  /** Nanoseconds of one of the `TREND_BUCKETS` equal parts. */
  readonly bucketNs: bigint;
}

/** The window of a range: without an end it ends now, without a beginning it is a day long. */
export function windowOf(range: TimeRange, nowMs: number): PatternWindow {
  const nowNs = BigInt(Math.trunc(nowMs)) * NANOS_PER_MILLI;
  const defaultNs = BigInt(DEFAULT_WINDOW_MS) * NANOS_PER_MILLI;
  const end = range.to ?? nowNs;
  const from = range.from ?? end - defaultNs;
  const to = end < from ? from : end;
  const length = to - from + 1n;
  const buckets = BigInt(TREND_BUCKETS);
  return { from, to, previousFrom: from - length, bucketNs: (length + buckets - 1n) / buckets };
}
