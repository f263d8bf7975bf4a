/** Whether people ask about entries just now: work that nobody waits for leaves them the machine. */
export class Asking {
  readonly #monotonicMs: () => number;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** A question of a person was answered. */
  asked(): void {
    this.#lastMs = this.#monotonicMs();
  }

  /** Whether a question was answered within so many milliseconds. */
  isWithin(ms: number): boolean {
    return this.#monotonicMs() - this.#lastMs <= ms;
  }
}
