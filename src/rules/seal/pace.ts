import { KEEPS_UP_SHARE, REST_FACTOR, REST_FACTORS, REST_MAX_MS } from "./limits.ts";

/** What a round of sealing was, on a machine that has nothing left. Milliseconds. */
interface BusyRound {
  readonly tookMs: number;
  /** Of what came to this server itself: in so much time it came. */
  readonly coveredMs: number;
  /** How long ago came what is next. */
  readonly behindMs: number;
}

/**
 * How long to rest before the next round, in milliseconds. Not at all where a small share of the time is enough to keep up: whoever
 * sends loses little by it, and waiting rules much. Else the less, the more sealing is behind.
 */
export function restAfter({ tookMs, coveredMs, behindMs }: BusyRound): number {
  if (tookMs <= coveredMs * KEEPS_UP_SHARE) return 0;
  const factor = REST_FACTORS.find(({ fromMs }) => behindMs >= fromMs)?.factor ?? REST_FACTOR;
  return Math.min(REST_MAX_MS, tookMs * factor);
}
