import type { Sql } from "postgres";
import { ABANDONED_CLAIM_MS, RECORD_KEPT_MS, REPLAYED_KEPT_MS } from "./limits.ts";
import { lowerUsage } from "./record-store.ts";

/**
 * Removes records whose time is over, and those that were replayed some time ago, at most `limit`; answers how many. One
 * that a replay has taken on stays until that is over or was given up long ago.
 */
export async function removeOldQuarantine(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const isOver = new Date(nowMs - RECORD_KEPT_MS);
  const wasReplayed = new Date(nowMs - REPLAYED_KEPT_MS);
  const wasGivenUp = new Date(nowMs - ABANDONED_CLAIM_MS);
  return sql.begin(async (tx) => {
    const rows = await tx<{ organization_id: number; state: string; raw_bytes: number }[]>`
      WITH old AS MATERIALIZED (
        SELECT id FROM quarantine_records
        WHERE (received_at < ${isOver} AND (state <> 'replaying' OR claimed_at < ${wasGivenUp}))
           OR (state = 'replayed' AND replayed_at < ${wasReplayed})
        LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
      DELETE FROM quarantine_records USING old WHERE quarantine_records.id = old.id
      RETURNING organization_id, state, raw_bytes`;
    const left = rows.filter(({ state }) => state !== "replayed");
    // In one order, so that two instances that clean at once never wait for each other in a circle.
    const organizations = [...new Set(left.map((row) => row.organization_id))].sort((a, b) => a - b);
    for (const organizationId of organizations) {
      const own = left.filter((row) => row.organization_id === organizationId);
      const bytes = own.reduce((sum, row) => sum + row.raw_bytes, 0);
      await lowerUsage(tx, organizationId, own.length, bytes);
    }
    return rows.length;
  });
}
