import type { Sql } from "postgres";
import { WorkLoop } from "../../concurrency/work-loop.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../ask-postgres.ts";
import { giveBackNumber, type InstanceHolder, renewNumber, takeNumber } from "./instance-store.ts";
import { GIVE_BACK_TIMEOUT_MS, IDS_AHEAD_MS, LEASE_MARGIN_MS, LEASE_MS, RENEW_EVERY_MS } from "./limits.ts";

interface InstanceLeaseOptions {
  readonly sql: Sql;
  /** The data directory, see `directoryIdentity`. */
  readonly place: string | null;
  readonly log: Logger;
  /** Milliseconds since 1970, the clock that log ids are made by. */
  readonly now: () => number;
  /** Milliseconds that no setting of a clock changes. */
  readonly monotonicNow: () => number;
}

/** What the server holds, since when by both clocks. */
interface Held {
  readonly number: number;
  readonly sinceMs: number;
  readonly sinceMonotonicMs: number;
}

/**
 * The number of this server among those that share its Postgres, from 0 to 1023, which nobody else has at the same time.
 * It is held by a lease. While Postgres is away it stays until the lease is nearly over; then there is none until
 * Postgres answers. One that was lost is replaced by another.
 */
export class InstanceLease {
  readonly #options: InstanceLeaseOptions;
  readonly #holder: InstanceHolder;
  readonly #loop: WorkLoop;
  #held: Held | null = null;
  #lastUsedMs = 0;

  private constructor(options: InstanceLeaseOptions) {
    this.#options = options;
    this.#holder = { id: crypto.randomUUID(), place: options.place };
    this.#loop = new WorkLoop({
      work: () => this.renew().then(() => false),
      pollMs: RENEW_EVERY_MS,
      failure: "the number of this server could not be renewed",
      log: options.log,
    });
  }

  /** Takes a number and keeps it. Throws when there is none, or Postgres does not answer. */
  static async open(options: InstanceLeaseOptions): Promise<InstanceLease> {
    const lease = new InstanceLease(options);
    await lease.renew();
    lease.#loop.start();
    return lease;
  }

  /** This start of the server, as it holds its number. */
  get holder(): InstanceHolder {
    return this.#holder;
  }

  /** The number to make ids with at this moment; null when the server has none, which it then looks for. */
  number(): number | null {
    const { now, monotonicNow } = this.#options;
    const held = this.#held;
    const nowMs = now();
    if (held === null || !isWithinLease(held, nowMs, monotonicNow())) {
      this.#loop.wake();
      return null;
    }
    this.#lastUsedMs = Math.max(this.#lastUsedMs, nowMs);
    return held.number;
  }

  /** Renews the lease, or takes another number when it is lost. */
  async renew(): Promise<void> {
    const { sql, now, monotonicNow, log } = this.#options;
    // From before the question: the lease that is granted lasts longer than what is counted here.
    const since = { sinceMs: now(), sinceMonotonicMs: monotonicNow() };
    const before = this.#held;
    if (before !== null) {
      const { number } = before;
      if (await askPostgres(() => renewNumber(sql, number, this.#holder.id, since.sinceMs))) {
        this.#held = { number, ...since };
        return;
      }
      this.#held = null;
      log.warn({ number }, "the number of this server was given to another, it takes a new one");
    }
    const number = await askPostgres(() => takeNumber(sql, this.#holder, since.sinceMs));
    if (number === null)
      throw new Error(
        "All numbers of servers are taken: too many have died within a day, or this machine's clock is far behind.",
      );
    this.#held = { number, ...since };
  }

  /** Gives the number back. Whoever made ids with it has stopped. */
  async close(): Promise<void> {
    const { sql, now, log } = this.#options;
    await this.#loop.stop(GIVE_BACK_TIMEOUT_MS);
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    const idsThroughMs = Math.max(this.#lastUsedMs, now()) + IDS_AHEAD_MS;
    try {
      await askPostgres(
        () => giveBackNumber(sql, held.number, this.#holder.id, idsThroughMs),
        GIVE_BACK_TIMEOUT_MS,
      );
    } catch (error) {
      log.warn(
        { err: error },
        "the number of this server could not be given back, it rests until its lease is over",
      );
    }
  }
}

/** By both clocks: one of them stands still while the machine sleeps, the other one can be set. */
function isWithinLease(held: Held, nowMs: number, monotonicNowMs: number): boolean {
  const lifeMs = LEASE_MS - LEASE_MARGIN_MS;
  return nowMs - held.sinceMs < lifeMs && monotonicNowMs - held.sinceMonotonicMs < lifeMs;
}
