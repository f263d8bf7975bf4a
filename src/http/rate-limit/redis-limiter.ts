import { patient } from "../../concurrency/patience.ts";
import type { Logger } from "../../log.ts";
import { REDIS_PAUSE_MS, REDIS_TIMEOUT_MS, REFILL_MS } from "./limits.ts";
import { decide, type RateDecision, type RateLimiter } from "./rate-limiter.ts";

/**
 * Takes one call from a bucket kept as "held:updatedMs", on the clock of the store, because those of the instances
 * differ. Answers what the bucket held before (as text, which keeps the fraction) and the time.
 * KEYS[1] bucket; ARGV[1] calls per minute; ARGV[2] milliseconds in which an empty bucket fills.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit = tonumber(ARGV[1])
local refill = tonumber(ARGV[2])
local held = limit
local stored = redis.call('GET', KEYS[1])
if stored then
  local at = string.find(stored, ':', 1, true)
  local elapsed = math.max(0, now - tonumber(string.sub(stored, at + 1)))
  held = math.min(limit, tonumber(string.sub(stored, 1, at - 1)) + elapsed * limit / refill)
end
local left = held
if held >= 1 then left = held - 1 end
redis.call('SET', KEYS[1], string.format('%.6f:%d', left, now), 'PX', refill)
return {string.format('%.6f', held), string.format('%d', now)}
`;

const KEY_PREFIX = "obs:rate:";

/** What is needed of a client: a script by its hash, and by its text where the store has forgotten it. */
export interface ScriptRunner {
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

interface RedisLimiterDeps {
  /** An ioredis client with enableOfflineQueue off, so that a lost connection fails at once. */
  readonly redis: ScriptRunner;
  /** Judges while the shared store does not answer. */
  readonly local: RateLimiter;
  readonly log: Logger;
  /** Called once per request that was judged locally. */
  readonly onLocalDecision: () => void;
  readonly nowMs?: () => number;
  /** How long an answer may take. */
  readonly timeoutMs?: number;
}

/** Buckets shared by all instances through Redis: one round trip a call, and local buckets while Redis is away. */
export class RedisRateLimiter implements RateLimiter {
  readonly #deps: RedisLimiterDeps;
  readonly #nowMs: () => number;
  readonly #timeoutMs: number;
  readonly #sha = new Bun.CryptoHasher("sha1").update(TAKE).digest("hex");
  #pausedUntilMs = 0;
  #isLocal = false;

  constructor(deps: RedisLimiterDeps) {
    this.#deps = deps;
    this.#nowMs = deps.nowMs ?? Date.now;
    this.#timeoutMs = deps.timeoutMs ?? patient(REDIS_TIMEOUT_MS);
  }

  /** True while calls are judged by this instance alone. */
  get isLocal(): boolean {
    return this.#isLocal;
  }

  async take(key: string, perMinute: number): Promise<RateDecision> {
    if (this.#nowMs() >= this.#pausedUntilMs) {
      try {
        const decision = await this.#takeShared(key, perMinute);
        if (this.#isLocal) this.#deps.log.info("rate limits are shared again");
        this.#isLocal = false;
        return decision;
      } catch (error) {
        if (!this.#isLocal)
          this.#deps.log.warn({ err: error }, "rate limits are local: Redis does not answer");
        this.#isLocal = true;
        this.#pausedUntilMs = this.#nowMs() + REDIS_PAUSE_MS;
      }
    }
    this.#deps.onLocalDecision();
    return this.#deps.local.take(key, perMinute);
  }

  async #takeShared(key: string, perMinute: number): Promise<RateDecision> {
    const [held, nowMs] = asPair(
      await withTimeout(this.#evaluate(KEY_PREFIX + key, perMinute), this.#timeoutMs),
    );
    return decide(held, perMinute, nowMs);
  }

  async #evaluate(key: string, perMinute: number): Promise<unknown> {
    try {
      return await this.#deps.redis.evalsha(this.#sha, 1, key, perMinute, REFILL_MS);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("NOSCRIPT")) {
        return this.#deps.redis.eval(TAKE, 1, key, perMinute, REFILL_MS);
      }
      throw error;
    }
  }
}

function asPair(answer: unknown): [number, number] {
  if (Array.isArray(answer)) {
    const [first, second] = answer.map(Number);
    if (first !== undefined && second !== undefined && Number.isFinite(first) && Number.isFinite(second)) {
      return [first, second];
    }
  }
  throw new TypeError("the rate limit script answered in an unknown shape");
}

async function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
