/** 1900-01-01 and 2262-04-11T23:47:16.854775807Z: what the store's times can hold, in nanoseconds since 1970. */
export const TIME_MIN_NS = -2_208_988_800_000_000_000n;
export const TIME_MAX_NS = 2n ** 63n - 1n;

/** Nanoseconds since 1970; both ends belong to the range, and null leaves an end open. */
export interface TimeRange {
  readonly from: bigint | null;
  readonly to: bigint | null;
}

export const ALL_TIME: TimeRange = { from: null, to: null };

/** The time that both ranges have; null for none. */
export function commonTime(left: TimeRange, right: TimeRange): TimeRange | null {
  const from = left.from === null || (right.from !== null && right.from > left.from) ? right.from : left.from;
  const to = left.to === null || (right.to !== null && right.to < left.to) ? right.to : left.to;
  return from !== null && to !== null && from > to ? null : { from, to };
}
