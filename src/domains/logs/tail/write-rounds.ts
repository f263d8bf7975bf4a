import { WRITE_INTERVAL_MAX_MS, WRITE_INTERVAL_MIN_MS, WRITES_PER_SECOND } from "./limits.ts";

/** Lets all readers that have something to read have their next piece in common rounds, the more readers the rarer. */
export class WriteRounds {
  readonly #monotonicMs: () => number;
  readonly #waiting = new Set<() => void>();
  #lastMs = Number.NEGATIVE_INFINITY;
  #intervalMs = WRITE_INTERVAL_MIN_MS;
  #timer: Timer | null = null;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Least time between two pieces of one reader at present, in milliseconds. */
  get intervalMs(): number {
    return this.#intervalMs;
  }

  /** Calls back in the next round, unless the returned function is called before. */
  join(callback: () => void): () => void {
    this.#waiting.add(callback);
    this.#timer ??= setTimeout(
      () => this.#round(),
      Math.max(0, this.#lastMs + this.#intervalMs - this.#monotonicMs()),
    );
    return () => this.#waiting.delete(callback);
  }

  #round(): void {
    const readers = [...this.#waiting];
    this.#waiting.clear();
    this.#timer = null;
    this.#lastMs = this.#monotonicMs();
    const neededMs = (readers.length * 1000) / WRITES_PER_SECOND;
    this.#intervalMs = Math.min(WRITE_INTERVAL_MAX_MS, Math.max(WRITE_INTERVAL_MIN_MS, neededMs));
    for (const callback of readers) callback();
  }
}
