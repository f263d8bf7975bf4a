import { FAILURE_KEYS_MAX, FAILURE_MEMORY_MS } from "./limits.ts";
import { delayAfterFailureMs, type LoginThrottle, type ThrottleSubject } from "./login-throttle.ts";

interface Failures {
  count: number;
  blockedUntilMs: number;
  forgottenAtMs: number;
}

/**
 * The throttle of a single process. It keeps a bounded number of subjects; when full it drops the one untouched
 * for longest, which an attacker can force only from more addresses than the address throttle lets act.
 */
export class MemoryLoginThrottle implements LoginThrottle {
  readonly #now: () => number;
  readonly #keysMax: number;
  /** Ordered by last failure, the oldest first. */
  readonly #failures = new Map<string, Failures>();

  constructor(options: { now: () => number; keysMax?: number }) {
    this.#now = options.now;
    this.#keysMax = options.keysMax ?? FAILURE_KEYS_MAX;
  }

  /** Subjects remembered at this moment. */
  get size(): number {
    return this.#failures.size;
  }

  async begin(subjects: readonly ThrottleSubject[]): Promise<number> {
    const nowMs = this.#now();
    this.#dropForgotten(nowMs);
    const waitMs = Math.max(
      0,
      ...subjects.map(({ key }) => (this.#failures.get(key)?.blockedUntilMs ?? 0) - nowMs),
    );
    if (waitMs > 0) return waitMs;
    for (const { key, policy } of subjects) {
      const count = (this.#failures.get(key)?.count ?? 0) + 1;
      this.#failures.delete(key);
      this.#failures.set(key, {
        count,
        blockedUntilMs: nowMs + delayAfterFailureMs(count, policy),
        forgottenAtMs: nowMs + FAILURE_MEMORY_MS,
      });
    }
    this.#dropExcess();
    return 0;
  }

  async succeed(subjects: readonly ThrottleSubject[]): Promise<void> {
    for (const { key, onSuccess } of subjects) {
      if (onSuccess === "forget") this.#failures.delete(key);
      else this.#refund(key);
    }
  }

  async withdraw(subjects: readonly ThrottleSubject[]): Promise<void> {
    for (const { key } of subjects) this.#refund(key);
  }

  /**
   * Takes one attempt back, its block included. An attempt that outlasted its own block may so shorten the block of
   * one begun since; that one stays counted, so the next delay is as long as it should be.
   */
  #refund(key: string): void {
    const failures = this.#failures.get(key);
    if (failures === undefined) return;
    failures.count -= 1;
    failures.blockedUntilMs = 0;
    if (failures.count <= 0) this.#failures.delete(key);
  }

  #dropForgotten(nowMs: number): void {
    for (const [key, failures] of this.#failures) {
      if (failures.forgottenAtMs > nowMs) return;
      this.#failures.delete(key);
    }
  }

  #dropExcess(): void {
    for (const key of this.#failures.keys()) {
      if (this.#failures.size <= this.#keysMax) return;
      this.#failures.delete(key);
    }
  }
}
