import { fulfilledWithin } from "../../../concurrency/deadline.ts";
import { DependencyError } from "../../../errors.ts";
import { backoffMs } from "../../../jobs/claims/backoff.ts";
import type { Logger } from "../../../log.ts";
import { COMMIT_BACKOFF, COMMIT_GATHER_MS, COMMIT_MAX_ROUNDS, ROUNDS_MAX_WAITING } from "./limits.ts";
import type { Committed } from "./round-commit.ts";
import type { Round } from "./rounds.ts";

interface CommitQueueOptions {
  readonly commit: (rounds: readonly Round[]) => Promise<Committed>;
  readonly onCommitted: (committed: Committed) => void;
  readonly log: Logger;
}

/**
 * Rounds on their way into the database: gathered for a moment, written together, one transaction after the other in the
 * order in which they came, and kept for as long as the database does not answer.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  #waiting: Round[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | null = null;
  #isStopped = false;
  #failures = 0;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Whether so many wait that no check should begin. */
  get isFull(): boolean {
    return this.size >= ROUNDS_MAX_WAITING;
  }

  push(rounds: readonly Round[]): void {
    if (this.#isStopped || rounds.length === 0) return;
    this.#waiting.push(...rounds);
    if (this.#running !== null) return;
    if (this.size >= COMMIT_MAX_ROUNDS) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), COMMIT_GATHER_MS);
  }

  /** Writes what waits, and waits for it for up to `withinMs`. */
  async settle(withinMs: number): Promise<void> {
    if (this.size > 0 && this.#running === null) this.#flush();
    if (this.#running !== null) await fulfilledWithin(this.#running, withinMs);
  }

  /** Writes what waits, for up to `withinMs`, and takes no more. */
  async stop(withinMs: number): Promise<void> {
    await this.settle(withinMs);
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#waiting = [];
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isStopped || this.size === 0) return;
    const rounds = this.#waiting.slice(0, COMMIT_MAX_ROUNDS);
    this.#running = this.#commit(rounds)
      .then(() => {
        this.#failures = 0;
        this.#waiting.splice(0, rounds.length);
        return 0;
      })
      .catch((error: unknown) => {
        this.#failures += 1;
        const delayMs = backoffMs(COMMIT_BACKOFF, this.#failures);
        this.#options.log.warn(
          { err: error, waiting: this.size, delayMs },
          "rounds of monitors cannot be written",
        );
        return delayMs;
      })
      .then((delayMs) => {
        this.#running = null;
        if (this.size > 0 && !this.#isStopped)
          this.#timer = setTimeout(() => this.#flush(), delayMs || this.#gatherMs());
      });
  }

  #gatherMs(): number {
    return this.size >= COMMIT_MAX_ROUNDS ? 0 : COMMIT_GATHER_MS;
  }

  /** A round that cannot be written, whatever waits for it, would hold up all others: it is found by halves and left out. */
  async #commit(rounds: readonly Round[]): Promise<void> {
    try {
      this.#options.onCommitted(await this.#options.commit(rounds));
    } catch (error) {
      if (error instanceof DependencyError) throw error;
      const [first] = rounds;
      if (rounds.length === 1 && first !== undefined) {
        const { monitorId, slotMs } = first;
        this.#options.log.error({ err: error, monitorId, slotMs }, "a round of a monitor cannot be written");
        return;
      }
      const half = Math.ceil(rounds.length / 2);
      await this.#commit(rounds.slice(0, half));
      await this.#commit(rounds.slice(half));
    }
  }
}
