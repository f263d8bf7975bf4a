import { DependencyError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { fulfilledWithin } from "./deadline.ts";

/** The longest pause while the work itself fails: each failure is a line in the log. */
const FAILURE_PAUSE_MAX_MS = 30_000;
/** The same while Postgres is away: what waits for it, as pages do, is not to wait much longer than it was away. */
const AWAY_PAUSE_MAX_MS = 1_000;
/** The pause of a loop that is told when there is something to do, whatever it is told: nothing is to be left to it. */
const WATCHED_PAUSE_MS = 300_000;

/** Calls `wake` when there is something to do, and again every `everyMs` as long as there is, until it is disposed of. */
export type Watch = (watched: {
  readonly wake: () => void;
  readonly everyMs: number;
  readonly log: Logger;
}) => Disposable;

export interface WorkLoopOptions {
  /** Does what there is to do; true when there may be more at once. */
  readonly work: (signal: AbortSignal) => Promise<boolean>;
  /** The pause while there is nothing to do and nobody wakes the loop; with a watch, how often it is told at most. */
  readonly pollMs: number;
  /** Says when there is something to do, so that the loop need not look so often. */
  readonly watch?: Watch;
  /** What a failure is logged as. */
  readonly failure: string;
  readonly log: Logger;
}

/** How the work of a loop went. */
interface Outcome {
  readonly pollMs: number;
  readonly isWatched: boolean;
  readonly failures: number;
  /** Whether the last one was that Postgres does not answer. */
  readonly isAway: boolean;
}

/** Does background work over Postgres again and again: when told to, and every so often for what other instances left. */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #abort = new AbortController();
  #woken = Promise.withResolvers<void>();
  /** In a row. */
  #failures = 0;
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
    const { work, pollMs, watch, failure, log } = this.#options;
    const { signal } = this.#abort;
    // What fails is tried again when its pause is over.
    const told = (): void => (this.#failures === 0 ? this.wake() : undefined);
    using _watched = watch?.({ wake: told, everyMs: pollMs, log });
    const isWatched = watch !== undefined;
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers<void>();
      let mayBeMore = false;
      let isAway = false;
      try {
        mayBeMore = await work(signal);
        this.#failures = 0;
      } catch (error) {
        this.#failures += 1;
        isAway = isPostgresAway(error);
        if (!signal.aborted && (!isAway || isPowerOfTwo(this.#failures)))
          log.error({ err: error, failures: this.#failures }, failure);
      }
      const pauseMs = pauseAfter({ pollMs, isWatched, failures: this.#failures, isAway });
      if (!mayBeMore && !signal.aborted) await fulfilledWithin(this.#woken.promise, pauseMs);
    }
  }
}

/** How long a loop waits that nobody wakes, after so many failures in a row. */
export function pauseAfter({ pollMs, isWatched, failures, isAway }: Outcome): number {
  if (isWatched && failures === 0) return Math.max(pollMs, WATCHED_PAUSE_MS);
  const maxMs = isAway ? AWAY_PAUSE_MAX_MS : FAILURE_PAUSE_MAX_MS;
  return Math.min(pollMs * 2 ** failures, Math.max(pollMs, maxMs));
}

function isPostgresAway(error: unknown): boolean {
  return error instanceof DependencyError && error.dependency === "postgres";
}

/** An outage of any length is some lines in the log, its first failures among them. */
function isPowerOfTwo(count: number): boolean {
  return Number.isInteger(Math.log2(count));
}
