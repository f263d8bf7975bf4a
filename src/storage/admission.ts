import { DependencyError } from "../errors.ts";

export interface AdmissionOptions {
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

/** Lets so many tasks run at a time, so many more wait their turn in the order they came, and refuses the rest. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /**
   * Runs the task when its turn comes. Throws a retryable DependencyError when too many wait, and when the signal
   * aborts before the task begins.
   */
  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (signal.aborted) throw notBegun("the caller went away");
    if (this.#running < this.#options.maxRunning) this.#running++;
    else await this.#turn(signal);
    try {
      return await task();
    } finally {
      this.#passOn();
    }
  }

  /** Resolves when a task that ended has left its place to this one. */
  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#options.maxWaiting) throw notBegun("too many are waiting");
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(begin);
        reject(notBegun("the caller went away"));
      };
      this.#waiting.add(begin);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  #passOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

function notBegun(reason: string): DependencyError {
  return new DependencyError("clickhouse", `a query was not begun: ${reason}`, { retryable: true });
}
