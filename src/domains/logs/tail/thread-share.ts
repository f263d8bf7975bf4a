interface ThreadShareOptions {
  /** Of the thread's time that the work may take, in (0, 1). */
  readonly share: number;
  /** Milliseconds of work that may be done at once after a pause. */
  readonly burstMs: number;
  readonly monotonicMs: () => number;
}

/**
 * Bounds the share of the thread that some work takes. Whoever does the work says how long it took, and asks before
 * the next piece how long to wait.
 */
export class ThreadShare {
  readonly #options: ThreadShareOptions;
  #creditMs: number;
  #atMs: number;

  constructor(options: ThreadShareOptions) {
    this.#options = options;
    this.#creditMs = options.burstMs;
    this.#atMs = options.monotonicMs();
  }

  /** Milliseconds until the next piece of work may begin; 0 for now. */
  get waitMs(): number {
    this.#earn();
    return this.#creditMs >= 0 ? 0 : -this.#creditMs / this.#options.share;
  }

  spend(workMs: number): void {
    this.#earn();
    this.#creditMs -= workMs;
  }

  #earn(): void {
    const { share, burstMs, monotonicMs } = this.#options;
    const nowMs = monotonicMs();
    this.#creditMs = Math.min(burstMs, this.#creditMs + (nowMs - this.#atMs) * share);
    this.#atMs = nowMs;
  }
}
