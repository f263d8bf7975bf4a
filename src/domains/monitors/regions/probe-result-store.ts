import type { Sql, TransactionSql } from "postgres";
import { fromNow } from "../../../storage/database-clock.ts";
import { PROBE_AHEAD_MAX_MS, PROBE_RESULTS_KEPT_MS } from "./limits.ts";
import type { ProbeFinding, ProbeResult } from "./types.ts";

/** The queries about what probes found. */

/** Keeps results of a region; one that is known already, too old or of no monitor of the region is left out. Answers how many are new. */
export async function keepResults(
  sql: Sql | TransactionSql,
  region: string,
  results: readonly ProbeResult[],
  slotNowMs: number,
): Promise<number> {
  const nowMs = Math.floor(slotNowMs);
  const rows = results.map(({ monitorId, slotMs, ...finding }) => ({
    monitor_id: monitorId,
    slot: slotMs,
    result: finding,
  }));
  const { count } = await sql`
    INSERT INTO probe_results (monitor_id, region, slot, organization_id, result, received_at)
    SELECT m.id, ${region}, given.slot, m.organization_id, given.result, now()
    FROM jsonb_to_recordset(${sql.json(rows)}) AS given (monitor_id bigint, slot bigint, result jsonb)
    JOIN monitors m ON m.id = given.monitor_id AND ${region} = ANY(m.regions)
    WHERE given.slot BETWEEN ${nowMs - PROBE_RESULTS_KEPT_MS} AND ${nowMs + PROBE_AHEAD_MAX_MS}
    ON CONFLICT DO NOTHING`;
  return count;
}

/** What a probe found and no round has taken. */
export interface WaitingResult {
  readonly monitor_id: string;
  readonly organization_id: number;
  readonly region: string;
  readonly slot: string;
  readonly result: ProbeFinding;
  /** Whether the round of its slot is written. */
  readonly is_late: boolean;
}

/** Results about monitors of these shards, the oldest first. */
export function findWaiting(sql: Sql, shards: readonly number[], limit: number): Promise<WaitingResult[]> {
  return sql<WaitingResult[]>`
    SELECT p.monitor_id, p.organization_id, p.region, p.slot, p.result, p.slot <= s.last_slot AS is_late
    FROM probe_results p JOIN monitors m ON m.id = p.monitor_id JOIN monitor_state s ON s.monitor_id = p.monitor_id
    WHERE NOT p.is_taken AND m.shard = ANY(${[...shards]}::smallint[]) ORDER BY p.received_at LIMIT ${limit}`;
}

/** The name of a result. */
export interface ResultKey {
  readonly monitorId: number;
  readonly region: string;
  readonly slotMs: number;
}

/** Says that results are written down; answers those that nobody had taken. */
export async function takeResults(tx: TransactionSql, keys: readonly ResultKey[]): Promise<ResultKey[]> {
  if (keys.length === 0) return [];
  const taken = await tx<{ monitor_id: string; region: string; slot: string }[]>`
    UPDATE probe_results AS kept SET is_taken = true
    FROM unnest(${keys.map(({ monitorId }) => monitorId)}::bigint[], ${keys.map(({ region }) => region)}::text[],
                ${keys.map(({ slotMs }) => slotMs)}::bigint[]) AS given (monitor_id, region, slot)
    WHERE kept.monitor_id = given.monitor_id AND kept.region = given.region AND kept.slot = given.slot
      AND NOT kept.is_taken
    RETURNING kept.monitor_id, kept.region, kept.slot`;
  return taken.map(({ monitor_id, region, slot }) => ({
    monitorId: Number(monitor_id),
    region,
    slotMs: Number(slot),
  }));
}

/** Removes results that no probe sends again, at most `limit`. */
export async function removeOldResults(sql: Sql, _nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM probe_results WHERE (monitor_id, region, slot) IN (
      SELECT monitor_id, region, slot FROM probe_results
      WHERE received_at < ${fromNow(sql, -2 * PROBE_RESULTS_KEPT_MS)}
      ORDER BY received_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`;
  return count;
}
