import type { Sql } from "postgres";

const DAY_MS = 86_400_000;
/** Days of counters that are kept: the present one judges caps, the others show how a token was used lately. */
const KEEP_DAYS = 40;

/** Removes counters of days that are long over, at most `limit` of them, and answers how many. */
export async function removeOldTokenUsage(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const oldestDay = new Date(nowMs - KEEP_DAYS * DAY_MS).toISOString().slice(0, 10);
  const { count } = await sql`
    WITH old AS MATERIALIZED (
      SELECT token_id, day FROM token_usage WHERE day < ${oldestDay} LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM token_usage USING old WHERE token_usage.token_id = old.token_id AND token_usage.day = old.day`;
  return count;
}
