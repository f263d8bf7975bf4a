import type { Logger } from "../log.ts";
import { fulfilledWithin } from "./deadline.ts";

/** The longest pause while the work fails, as it does when Postgres is away: each failure is a line in the log. */
const FAILURE_PAUSE_MAX_MS = 30_000;

export interface WorkLoopOptions {
  /** Does what there is to do; true when there may be more at once. */
  readonly work: (signal: AbortSignal) => Promise<boolean>;
  /** The pause while there is nothing to do and nobody wakes the loop. */
  readonly pollMs: number;
  /** What a failure is logged as. */
  readonly failure: string;
  readonly log: Logger;
}

/** Does background work over Postgres again and again: when told to, and every so often for what other instances left. */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #abort = new AbortController();
  #woken = Promise.withResolvers<void>();
  #running: Promise<void> | null = null;

  constructor(options: WorkLoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** There may be something to do. */
  wake(): void {
    this.#woken.resolve();
  }

  /** Ends the loop; what is being worked on is told to stop and waited for up to `withinMs`. */
  async stop(withinMs: number): Promise<void> {
    this.#abort.abort();
    this.wake();
    if (this.#running !== null) await fulfilledWithin(this.#running, withinMs);
  }

  async #run(): Promise<void> {
    const { work, pollMs, failure, log } = this.#options;
    const { signal } = this.#abort;
    let failures = 0;
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers<void>();
      let mayBeMore = false;
      try {
        mayBeMore = await work(signal);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (!signal.aborted) log.error({ err: error }, failure);
      }
      const pauseMs = Math.min(pollMs * 2 ** failures, Math.max(pollMs, FAILURE_PAUSE_MAX_MS));
      if (!mayBeMore && !signal.aborted) await fulfilledWithin(this.#woken.promise, pauseMs);
    }
  }
}
