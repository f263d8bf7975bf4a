import { KEEPS_UP_SHARE, REST_FACTOR, REST_FACTORS, REST_MAX_MS } from "./limits.ts";

/** What a round of sealing was, on a machine that has nothing left. Milliseconds. */
interface BusyRound {
  /** Whether somebody sends or asks meanwhile, for whom the machine is to be left. */
  readonly isWanted: boolean;
  readonly tookMs: number;
  /** Of what came to this server itself: in so much time it came. */
  readonly coveredMs: number;
  /** How long ago came what is next. */
  readonly behindMs: number;
}

/**
 * How long to rest before the next round, in milliseconds. Not at all where nobody else wants the machine, or where a small share of
 * the time is enough to keep up: whoever sends or asks loses little by it, and waiting rules much. Else the less, the more sealing is behind.
 */
export function restAfter({ isWanted, tookMs, coveredMs, behindMs }: BusyRound): number {
  if (!isWanted || tookMs <= coveredMs * KEEPS_UP_SHARE) return 0;
  const factor = REST_FACTORS.find(({ fromMs }) => behindMs >= fromMs)?.factor ?? REST_FACTOR;
  return Math.min(REST_MAX_MS, tookMs * factor);
}
