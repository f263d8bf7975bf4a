import type { Sql, TransactionSql } from "postgres";
import { COUNTS_KEPT_MS, COUNTS_MAX_HOURS } from "./limits.ts";

/** What a rule did in an hour. */
export interface RuleHour {
  readonly ruleId: number;
  readonly organizationId: number;
  /** ISO-8601. */
  readonly hour: string;
  readonly dropped: number;
  readonly masked: number;
}

/** Adds what rules of all organisations did; a rule that is gone is passed over. */
export async function addRuleHours(sql: Sql, hours: readonly RuleHour[]): Promise<void> {
  // In one order, so that two instances that write at once never wait for each other in a circle.
  await sql`
    INSERT INTO ingest_rule_counts (rule_id, hour, organization_id, dropped, masked)
    SELECT r.id, c.hour, r.organization_id, c.dropped, c.masked
    FROM json_to_recordset(${JSON.stringify(hours)}::text::json) AS c(
      "ruleId" bigint, "organizationId" integer, hour timestamptz(0), dropped bigint, masked bigint
    )
    JOIN ingest_rules r ON r.id = c."ruleId" AND r.organization_id = c."organizationId"
    ORDER BY r.id, c.hour
    ON CONFLICT (rule_id, hour) DO UPDATE SET
      dropped = ingest_rule_counts.dropped + excluded.dropped, masked = ingest_rule_counts.masked + excluded.masked`;
}

/** What a rule did in the hours that begin in a range, oldest first. */
export async function readRuleHours(
  tx: TransactionSql,
  organizationId: number,
  ruleId: number,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<{ hour: string; dropped: number; masked: number }[]> {
  const rows = await tx<{ hour: Date; dropped: string; masked: string }[]>`
    SELECT hour, dropped, masked FROM ingest_rule_counts
    WHERE organization_id = ${organizationId} AND rule_id = ${ruleId}
      AND hour >= date_trunc('hour', ${from}::timestamptz) AND hour <= ${to}
    ORDER BY hour DESC LIMIT ${COUNTS_MAX_HOURS}`;
  return rows
    .map(({ hour, dropped, masked }) => ({
      hour: hour.toISOString(),
      dropped: Number(dropped),
      masked: Number(masked),
    }))
    .reverse();
}

/** Removes counts whose time is over, at most `limit`, and answers how many. */
export async function removeOldRuleCounts(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    WITH old AS MATERIALIZED (
      SELECT rule_id, hour FROM ingest_rule_counts WHERE hour < ${new Date(nowMs - COUNTS_KEPT_MS)}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM ingest_rule_counts c USING old WHERE c.rule_id = old.rule_id AND c.hour = old.hour`;
  return count;
}
