import type { Sql } from "postgres";
import { WorkLoop } from "../concurrency/work-loop.ts";
import type { Logger } from "../log.ts";
import { askPostgres } from "../storage/ask-postgres.ts";

/** Rows of one statement: short enough to be in nobody's way. */
const BATCH_ROWS = 1_000;
/** Statements of one kind in a round, so that none keeps the others waiting; a round that did not suffice is repeated. */
const ROUND_MAX_BATCHES = 50;
/** Nothing that is cleaned is wrong while it is still there; it only takes room. */
const ROUND_EVERY_MS = 600_000;
/** What a statement under way gets when the server stops. */
const STOP_MS = 1_000;

/** Removes rows whose time is over, at most `limit`, leaves those that another instance is removing, and counts its own. */
export type RemoveExpired = (sql: Sql, nowMs: number, limit: number) => Promise<number>;

interface HousekeepingOptions {
  readonly sql: Sql;
  /** The time by which things age, milliseconds since 1970; see `BelievedClock`. */
  readonly now: () => number | Promise<number>;
  readonly tasks: readonly RemoveExpired[];
  readonly log: Logger;
}

/** Removes from Postgres what is over, now and every ten minutes, on every instance at once if need be. */
export class Housekeeping {
  readonly #options: HousekeepingOptions;
  readonly #loop: WorkLoop;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      work: (signal) => this.cleanOnce(signal),
      pollMs: ROUND_EVERY_MS,
      failure: "what is over could not be removed",
      log: options.log,
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop(STOP_MS);
  }

  /** One round; true when there was more than a round removes. */
  async cleanOnce(signal: AbortSignal): Promise<boolean> {
    const { sql, now, tasks } = this.#options;
    const nowMs = await askPostgres(async () => now());
    let mayBeMore = false;
    for (const removeExpired of tasks) {
      let batches = 0;
      let removed = BATCH_ROWS;
      while (removed === BATCH_ROWS && batches < ROUND_MAX_BATCHES && !signal.aborted) {
        removed = await askPostgres(() => removeExpired(sql, nowMs, BATCH_ROWS));
        batches += 1;
      }
      mayBeMore ||= removed === BATCH_ROWS;
    }
    return mayBeMore && !signal.aborted;
  }
}
