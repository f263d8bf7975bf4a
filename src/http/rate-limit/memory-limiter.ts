import { MAX_LOCAL_BUCKETS, REFILL_MS } from "./limits.ts";
import { decide, type RateDecision, type RateLimiter } from "./rate-limiter.ts";

interface Bucket {
  held: number;
  updatedMs: number;
}

/**
 * Buckets of this process, in two generations: what was used since the last turn and what was used in the one before.
 * A turn drops the older one, whose buckets have been idle long enough to be full, or sooner when there are too many.
 */
export class MemoryRateLimiter implements RateLimiter {
  readonly #nowMs: () => number;
  readonly #maxPerGeneration: number;
  #young = new Map<string, Bucket>();
  #old = new Map<string, Bucket>();
  #turnedMs: number;

  /** `nowMs` is a clock that never goes back, in epoch milliseconds. */
  constructor(options: { nowMs?: () => number; maxBuckets?: number } = {}) {
    this.#nowMs = options.nowMs ?? Date.now;
    this.#maxPerGeneration = Math.max(1, Math.floor((options.maxBuckets ?? MAX_LOCAL_BUCKETS) / 2));
    this.#turnedMs = this.#nowMs();
  }

  /** Buckets remembered now. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  take(key: string, perMinute: number): RateDecision {
    const nowMs = this.#nowMs();
    if (nowMs - this.#turnedMs >= REFILL_MS) this.#turn(nowMs);
    const bucket = this.#bucket(key, perMinute, nowMs);
    const elapsedMs = Math.max(0, nowMs - bucket.updatedMs);
    const decision = decide(
      Math.min(perMinute, bucket.held + (elapsedMs * perMinute) / REFILL_MS),
      perMinute,
      nowMs,
    );
    bucket.held = decision.left;
    bucket.updatedMs = nowMs;
    return decision;
  }

  #bucket(key: string, perMinute: number, nowMs: number): Bucket {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    if (this.#young.size >= this.#maxPerGeneration) this.#turn(nowMs);
    const bucket = this.#old.get(key) ?? { held: perMinute, updatedMs: nowMs };
    this.#old.delete(key);
    this.#young.set(key, bucket);
    return bucket;
  }

  #turn(nowMs: number): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#turnedMs = nowMs;
  }
}
