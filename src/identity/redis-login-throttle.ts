import type { Logger } from "../log.ts";
import { FAILURE_DELAY_BASE_MS, FAILURE_MEMORY_MS } from "./limits.ts";
import type { LoginThrottle, ThrottleSubject } from "./login-throttle.ts";

/**
 * Begins an attempt for all subjects or for none; answers the milliseconds to wait. KEYS: one hash a subject with
 * `count`, `blocked` and `last`; ARGV: now, base delay, memory, then free failures and longest delay of each.
 */
const BEGIN = `
local now, base, memory = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local wait = 0
for _, key in ipairs(KEYS) do
  if now - tonumber(redis.call('HGET', key, 'last') or now) >= memory then redis.call('DEL', key) end
  wait = math.max(wait, tonumber(redis.call('HGET', key, 'blocked') or 0) - now)
end
if wait > 0 then return wait end
for i, key in ipairs(KEYS) do
  local excess = redis.call('HINCRBY', key, 'count', 1) - tonumber(ARGV[2 * i + 2])
  local delay = 0
  if excess > 0 then delay = math.min(base * 2 ^ (excess - 1), tonumber(ARGV[2 * i + 3])) end
  redis.call('HSET', key, 'blocked', now + delay, 'last', now)
  redis.call('PEXPIRE', key, memory)
end
return 0
`;

/** Ends an attempt that did not fail. KEYS: the subjects; ARGV: `forget` or `refund` for each. */
const SETTLE = `
for i, key in ipairs(KEYS) do
  if ARGV[i] == 'forget' then
    redis.call('DEL', key)
  elseif redis.call('EXISTS', key) == 1 then
    if redis.call('HINCRBY', key, 'count', -1) <= 0 then redis.call('DEL', key)
    else redis.call('HSET', key, 'blocked', 0) end
  end
end
return 0
`;

/** The braces keep all subjects of one attempt on one node of a cluster. */
const KEY_PREFIX = "obs:{login}:";

/** What is needed of a client. */
interface ScriptEvaluator {
  eval(script: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

interface RedisLoginThrottleOptions {
  /** An ioredis client that fails at once while it is not connected. */
  redis: ScriptEvaluator;
  /** Judges while Redis does not answer: each instance then counts what it sees itself. */
  local: LoginThrottle;
  now: () => number;
  log: Logger;
}

/** The throttle shared by all instances through Redis. Logging in goes on, and stays throttled, without it. */
export class RedisLoginThrottle implements LoginThrottle {
  readonly #options: RedisLoginThrottleOptions;

  constructor(options: RedisLoginThrottleOptions) {
    this.#options = options;
  }

  async begin(subjects: readonly ThrottleSubject[]): Promise<number> {
    const policies = subjects.flatMap(({ policy }) => [policy.freeFailures, policy.delayMaxMs]);
    const times = [this.#options.now(), FAILURE_DELAY_BASE_MS, FAILURE_MEMORY_MS];
    try {
      const waitMs = Number(await this.#evaluate(BEGIN, subjects, [...times, ...policies]));
      if (!Number.isFinite(waitMs)) throw new TypeError("the throttle script answered in an unknown shape");
      return waitMs;
    } catch (error) {
      this.#options.log.warn({ err: error }, "login failures are counted locally: Redis does not answer");
      return this.#options.local.begin(subjects);
    }
  }

  async succeed(subjects: readonly ThrottleSubject[]): Promise<void> {
    await this.#options.local.succeed(subjects);
    await this.#settle(
      subjects,
      subjects.map(({ onSuccess }) => onSuccess),
    );
  }

  async withdraw(subjects: readonly ThrottleSubject[]): Promise<void> {
    await this.#options.local.withdraw(subjects);
    await this.#settle(
      subjects,
      subjects.map(() => "refund"),
    );
  }

  /** Failing to settle costs a delay that was not deserved, not the login. */
  async #settle(subjects: readonly ThrottleSubject[], outcomes: readonly string[]): Promise<void> {
    try {
      await this.#evaluate(SETTLE, subjects, outcomes);
    } catch (error) {
      this.#options.log.warn({ err: error }, "a login attempt could not be settled in Redis");
    }
  }

  #evaluate(
    script: string,
    subjects: readonly ThrottleSubject[],
    parameters: readonly (string | number)[],
  ): Promise<unknown> {
    const keys = subjects.map(({ key }) => KEY_PREFIX + key);
    return this.#options.redis.eval(script, keys.length, ...keys, ...parameters);
  }
}
