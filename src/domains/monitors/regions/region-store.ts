import type { Sql } from "postgres";
import type { RunnableRow } from "../scheduling/assignment-store.ts";
import { FEED_MAX_MONITORS } from "./limits.ts";

/** The queries about monitors that are checked in a region. Probes are the operator's: they see those of all organisations. */

/** The monitors of a region and when they were changed last, in milliseconds since 1970. */
export async function listRegionVersions(sql: Sql, region: string): Promise<Map<number, number>> {
  const rows = await sql<{ id: string; updated_at: Date }[]>`
    SELECT id, updated_at FROM monitors
    WHERE ${region} = ANY(regions) AND NOT paused AND type <> 'heartbeat' ORDER BY id LIMIT ${FEED_MAX_MONITORS}`;
  return new Map(rows.map(({ id, updated_at }) => [Number(id), updated_at.getTime()]));
}

export function findOfRegion<Row extends RunnableRow>(
  sql: Sql,
  region: string,
  monitorIds: readonly number[],
): Promise<Row[]> {
  return sql<Row[]>`
    SELECT m.*, s.next_slot, s.last_slot FROM monitors m JOIN monitor_state s ON s.monitor_id = m.id
    WHERE m.id = ANY(${[...monitorIds]}::bigint[]) AND ${region} = ANY(m.regions) AND NOT m.paused`;
}
