import type { Sql } from "postgres";
import { fromNow } from "../../../storage/database-clock.ts";
import { endWhenStuck } from "../../../storage/stuck-transaction.ts";
import { LEASE_MS, RUN_GAP_MS, SHARDS } from "./limits.ts";

/** The queries about who runs which monitors. Leases go by the clock of the database. */

/** A shard and the lease under which an instance runs it. */
export interface HeldShard {
  readonly shard: number;
  readonly epoch: number;
}

interface ShardRow {
  shard: number;
  epoch: string;
}

interface Holding {
  readonly held: readonly HeldShard[];
  /** How many shards are this instance's part of all. */
  readonly share: number;
  /** What the clock of the database said, milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * Renews what an instance holds and takes what is free, up to its part. Shards that an earlier start of the same instance
 * held are free for it at once, under a new epoch, so that nothing of the earlier one is written any more. A lease that
 * lasts for longer than one does was given before the clock of the database was set back, and is over, too.
 */
export function holdShards(sql: Sql, owner: string, before: readonly HeldShard[]): Promise<Holding> {
  return sql.begin(async (tx) => {
    await endWhenStuck(tx, LEASE_MS);
    await tx`
      INSERT INTO monitor_runners (owner, seen_until) VALUES (${owner}, ${fromNow(tx, LEASE_MS)})
      ON CONFLICT (owner) DO UPDATE SET seen_until = excluded.seen_until`;
    await tx`DELETE FROM monitor_runners WHERE seen_until < ${fromNow(tx, -100 * LEASE_MS)}`;
    // Locked in one order everywhere: what is written under a lease locks shards, too.
    const renewed = await tx<ShardRow[]>`
      WITH mine AS MATERIALIZED (
        SELECT held.shard FROM monitor_shards AS held
        JOIN unnest(${before.map(({ shard }) => shard)}::smallint[], ${before.map(({ epoch }) => epoch)}::bigint[])
          AS known (shard, epoch) ON known.shard = held.shard AND known.epoch = held.epoch
        WHERE held.owner = ${owner} ORDER BY held.shard FOR UPDATE OF held
      )
      UPDATE monitor_shards SET leased_until = ${fromNow(tx, LEASE_MS)} FROM mine
      WHERE monitor_shards.shard = mine.shard RETURNING monitor_shards.shard, monitor_shards.epoch`;
    const [seen] = await tx<{ runners: number; now_ms: number }[]>`
      SELECT count(*)::integer AS runners, extract(epoch FROM clock_timestamp())::double precision * 1000 AS now_ms
      FROM monitor_runners WHERE seen_until > now() AND seen_until <= ${fromNow(tx, LEASE_MS)}`;
    const share = Math.ceil(SHARDS / Math.max(1, seen?.runners ?? 1));
    const taken = await tx<ShardRow[]>`
      UPDATE monitor_shards
      SET owner = ${owner}, epoch = epoch + 1, leased_until = ${fromNow(tx, LEASE_MS)},
          run_since = CASE WHEN leased_until < ${fromNow(tx, -RUN_GAP_MS)} THEN now() ELSE run_since END
      WHERE shard IN (
        SELECT shard FROM monitor_shards
        WHERE (owner = ${owner} OR leased_until <= now() OR leased_until > ${fromNow(tx, LEASE_MS)}) AND shard <> ALL(${renewed.map(({ shard }) => shard)}::smallint[])
        ORDER BY owner IS NOT DISTINCT FROM ${owner} DESC, shard LIMIT ${Math.max(0, share - renewed.length)}
        FOR UPDATE SKIP LOCKED)
      RETURNING shard, epoch`;
    return { held: [...renewed, ...taken].map(shardOf), share, nowMs: seen?.now_ms ?? Date.now() };
  });
}

/** Gives shards back, which another instance may take at once. */
export async function releaseShards(sql: Sql, owner: string, shards: readonly HeldShard[]): Promise<void> {
  await sql`
    UPDATE monitor_shards SET leased_until = now(), owner = NULL
    FROM unnest(${shards.map(({ shard }) => shard)}::smallint[], ${shards.map(({ epoch }) => epoch)}::bigint[])
      AS given (shard, epoch)
    WHERE monitor_shards.owner = ${owner} AND monitor_shards.shard = given.shard AND monitor_shards.epoch = given.epoch`;
}

/** An instance that has stopped has no part of the shards any more. */
export async function forgetRunner(sql: Sql, owner: string): Promise<void> {
  await sql`DELETE FROM monitor_runners WHERE owner = ${owner}`;
}

function shardOf({ shard, epoch }: ShardRow): HeldShard {
  return { shard, epoch: Number(epoch) };
}
