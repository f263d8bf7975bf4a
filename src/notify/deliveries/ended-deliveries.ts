import type { Sql } from "postgres";
import { askUntilBack } from "../../storage/ask-until-back.ts";
import { type Arrived, endArrived } from "./delivery-store.ts";

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
    const writing = askUntilBack(
      () => endArrived(this.#sql, batch),
      () => this.#isStopped,
    );
    // Who waits for these hears of a failure; the next ones are written all the same.
    this.#written = writing.catch(() => undefined);
    return writing;
  }
}
