import { monotonicMs } from "./slot-clock.ts";

/**
 * The monotonic clock of another thread, as its messages tell it: each thread's own counts from its own start. A message is
 * never here before it was sent, so the latest guess is the best one; it never goes back, and is behind by as long as the
 * fastest message took.
 */
export class SenderClock {
  #aheadMs: number;
  readonly #ownMs: () => number;

  constructor(sentAtMs: number, ownMs: () => number = monotonicMs) {
    this.#ownMs = ownMs;
    this.#aheadMs = sentAtMs - ownMs();
  }

  /** A message came just now. */
  hear(sentAtMs: number): void {
    this.#aheadMs = Math.max(this.#aheadMs, sentAtMs - this.#ownMs());
  }

  now(): number {
    return this.#ownMs() + this.#aheadMs;
  }
}
