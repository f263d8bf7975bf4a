import { HISTOGRAM_DEFAULT_BUCKETS } from "../limits.ts";

export const NANOS_PER_SECOND = 1_000_000_000n;

const DAY_SEC = 86_400;
const YEAR_SEC = 365 * DAY_SEC;

/** Widths that people read well, in seconds. */
const NICE_WIDTHS_SEC = [
  ...[1, 2, 5, 10, 15, 30],
  ...[60, 120, 300, 600, 900, 1800],
  ...[3600, 7200, 10_800, 21_600, 43_200],
  ...[DAY_SEC, 2 * DAY_SEC, 7 * DAY_SEC, 14 * DAY_SEC, 30 * DAY_SEC, 90 * DAY_SEC, YEAR_SEC],
];

/** Equal lengths of time, counted from 1970: the same width gives the same buckets, whatever the range. */
export interface BucketSeries {
  readonly widthSec: number;
  /** Nanoseconds since 1970. */
  readonly startNs: bigint;
  readonly count: number;
}

/** The buckets that hold both ends. Without a width the narrowest nice one with about a hundred buckets. */
export function bucketSeries(fromNs: bigint, toNs: bigint, widthSec: number | null): BucketSeries {
  const width = widthSec ?? niceWidth(Number((toNs - fromNs) / NANOS_PER_SECOND));
  const widthNs = BigInt(width) * NANOS_PER_SECOND;
  const first = floorDivide(fromNs, widthNs);
  return {
    widthSec: width,
    startNs: first * widthNs,
    count: Number(floorDivide(toNs, widthNs) - first + 1n),
  };
}

function niceWidth(lengthSec: number): number {
  const least = lengthSec / HISTOGRAM_DEFAULT_BUCKETS;
  return NICE_WIDTHS_SEC.find((width) => width >= least) ?? Math.ceil(least / YEAR_SEC) * YEAR_SEC;
}

function floorDivide(value: bigint, divisor: bigint): bigint {
  const remainder = value % divisor;
  return (value - (remainder < 0n ? remainder + divisor : remainder)) / divisor;
}
