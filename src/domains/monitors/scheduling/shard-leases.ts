import type { Sql } from "postgres";
import { monotonicMs } from "../../../probes/schedule/slot-clock.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import { LEASE_MS, RENEW_TIMEOUT_MS } from "./limits.ts";
import { forgetRunner, type HeldShard, holdShards, releaseShards } from "./shard-store.ts";

/** What the database's clock said at a reading of the monotonic one. */
interface ClockReading {
  readonly databaseMs: number;
  readonly monotonicMs: number;
}

/** What a renewal came to. */
interface Renewal {
  readonly taken: readonly number[];
  readonly lost: readonly number[];
  readonly reading: ClockReading;
}

/** The shards that this instance runs, under which epochs. */
export class ShardLeases {
  readonly #sql: Sql;
  readonly #owner: string;
  #held = new Map<number, number>();
  #untilMs = Number.NEGATIVE_INFINITY;
  #share = 0;

  /** `owner` is the data directory's, so that a restart has its own back at once. */
  constructor(sql: Sql, owner: string) {
    this.#sql = sql;
    this.#owner = owner;
  }

  get shards(): readonly number[] {
    return [...this.#held.keys()];
  }

  /** Until when, by the monotonic clock, nobody else has them. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /** The epoch under which a shard is held; undefined when it is not. */
  epochOf(shard: number): number | undefined {
    return this.#held.get(shard);
  }

  /** Those beyond this instance's part, which others wait for. */
  surplus(): readonly number[] {
    return this.shards.slice(this.#share);
  }

  /** Renews, takes what is free, and says what is new and what is gone. Throws when Postgres does not answer. */
  async renew(): Promise<Renewal> {
    const askedMs = monotonicMs();
    const before = this.#list();
    const { held, share, nowMs } = await askPostgres(
      () => holdShards(this.#sql, this.#owner, before),
      RENEW_TIMEOUT_MS,
    );
    const answeredMs = monotonicMs();
    const known = this.#held;
    this.#held = new Map(held.map(({ shard, epoch }) => [shard, epoch]));
    this.#untilMs = askedMs + LEASE_MS;
    this.#share = share;
    return {
      taken: held.filter(({ shard, epoch }) => known.get(shard) !== epoch).map(({ shard }) => shard),
      lost: [...known].filter(([shard, epoch]) => this.#held.get(shard) !== epoch).map(([shard]) => shard),
      reading: { databaseMs: nowMs, monotonicMs: (askedMs + answeredMs) / 2 },
    };
  }

  /** Gives shards back whose rounds are written. */
  async release(shards: readonly number[]): Promise<void> {
    const given = this.#list().filter(({ shard }) => shards.includes(shard));
    for (const { shard } of given) this.#held.delete(shard);
    await askPostgres(() => releaseShards(this.#sql, this.#owner, given), RENEW_TIMEOUT_MS);
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    await this.release(this.shards);
    await askPostgres(() => forgetRunner(this.#sql, this.#owner), RENEW_TIMEOUT_MS);
  }

  #list(): HeldShard[] {
    return [...this.#held].map(([shard, epoch]) => ({ shard, epoch }));
  }
}
