import type { Sql } from "postgres";

/** The queries about which monitors are to be run. */

/** A row of `monitors` and when it is due, as the database has it. */
export interface RunnableRow {
  readonly id: string;
  readonly organization_id: number;
  readonly shard: number;
  readonly type: string;
  readonly url: string;
  readonly interval_sec: number;
  readonly timeout_ms: number;
  readonly retry_interval_sec: number | null;
  readonly regions: string[] | null;
  readonly updated_at: Date;
  readonly resumed_at: Date | null;
  readonly next_slot: string;
  readonly last_slot: string;
}

/** A monitor of a shard, and when it was changed last. */
export interface MonitorVersion {
  readonly monitorId: number;
  readonly updatedAtMs: number;
  /** Whether it is to be run: neither paused nor a heartbeat. */
  readonly isRun: boolean;
}

/** Monitors of shards, those that were changed since then or all; milliseconds since 1970. */
export async function listVersions(
  sql: Sql,
  shards: readonly number[],
  sinceMs: number | null,
): Promise<MonitorVersion[]> {
  const changed = sinceMs === null ? sql`` : sql`AND updated_at > ${new Date(sinceMs)}`;
  const rows = await sql<{ id: string; updated_at: Date; is_run: boolean }[]>`
    SELECT id, updated_at, NOT paused AND type <> 'heartbeat' AS is_run FROM monitors
    WHERE shard = ANY(${[...shards]}::smallint[]) ${changed}`;
  return rows.map(({ id, updated_at, is_run }) => ({
    monitorId: Number(id),
    updatedAtMs: updated_at.getTime(),
    isRun: is_run,
  }));
}

/** The settings of monitors that are run, with when they are due. */
export async function findRunnable<Row extends RunnableRow>(
  sql: Sql,
  monitorIds: readonly number[],
): Promise<Row[]> {
  return sql<Row[]>`
    SELECT m.*, s.next_slot, s.last_slot FROM monitors m JOIN monitor_state s ON s.monitor_id = m.id
    WHERE m.id = ANY(${[...monitorIds]}::bigint[]) AND NOT m.paused AND m.type <> 'heartbeat'`;
}

/** Says when monitors are due that have never been, so that all regions begin with the same slot. */
export async function announceFirstSlot(
  sql: Sql,
  monitorIds: readonly number[],
  slotMs: number,
): Promise<void> {
  await sql`
    UPDATE monitor_state SET next_slot = greatest(${slotMs}::bigint, last_slot + 1)
    WHERE monitor_id = ANY(${[...monitorIds]}::bigint[]) AND next_slot = 0`;
}
