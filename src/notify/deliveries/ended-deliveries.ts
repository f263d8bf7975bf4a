import { setTimeout as pause } from "node:timers/promises";
import type { Sql } from "postgres";
import { DependencyError } from "../../errors.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { type Arrived, endArrived } from "./delivery-store.ts";
import { END_RETRIES_MAX, END_RETRY_MS } from "./limits.ts";

/**
 * Ends of deliveries that are written together, as many as come while the ones before are written. While Postgres is away
 * they wait for it: what was told and is not written down is told once more.
 */
export class EndedDeliveries {
  readonly #sql: Sql;
  #waiting: Arrived[] = [];
  #written: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #isStopped = false;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Resolves once it is written that the delivery has arrived. */
  add(arrived: Arrived): Promise<void> {
    this.#waiting.push(arrived);
    this.#next ??= this.#written.then(() => this.#write());
    return this.#next;
  }

  /** Nothing is tried again any more. */
  stop(): void {
    this.#isStopped = true;
  }

  #write(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#next = null;
    const writing = this.#keepWriting(batch);
    // Who waits for these hears of a failure; the next ones are written all the same.
    this.#written = writing.catch(() => undefined);
    return writing;
  }

  async #keepWriting(batch: readonly Arrived[]): Promise<void> {
    for (let retries = 0; ; retries += 1) {
      try {
        return await askPostgres(() => endArrived(this.#sql, batch));
      } catch (error) {
        const isAway = error instanceof DependencyError;
        if (!isAway || this.#isStopped || retries >= END_RETRIES_MAX) throw error;
        await pause(END_RETRY_MS, undefined, { ref: false });
      }
    }
  }
}
