import type { Sql, TransactionSql } from "postgres";
import type { RetentionRule, RetentionSettings } from "./types.ts";

/** The queries about retention settings. */

interface RetentionRow {
  organization_id: number;
  days: number | null;
  rules: RetentionRule[];
}

/** Null when the organisation has set nothing. */
export async function findRetention(
  sql: Sql | TransactionSql,
  organizationId: number,
): Promise<RetentionSettings | null> {
  const [row] = await sql<RetentionRow[]>`
    SELECT organization_id, days, rules FROM log_retention WHERE organization_id = ${organizationId}`;
  return row === undefined ? null : { days: row.days, rules: row.rules };
}

/** The settings of organisations that have any, by their ids, from the first one beyond `afterId` on. */
export async function listRetentions(
  sql: Sql,
  afterId: number,
  limit: number,
): Promise<{ organizationId: number; settings: RetentionSettings }[]> {
  const rows = await sql<RetentionRow[]>`
    SELECT organization_id, days, rules FROM log_retention
    WHERE organization_id > ${afterId} ORDER BY organization_id LIMIT ${limit}`;
  return rows.map(({ organization_id, days, rules }) => ({
    organizationId: organization_id,
    settings: { days, rules },
  }));
}

/** Locks the organisation, so that its settings are changed one after the other. */
export async function lockRetention(
  tx: TransactionSql,
  organizationId: number,
): Promise<RetentionSettings | null> {
  await tx`SELECT 1 FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`;
  return findRetention(tx, organizationId);
}

export async function putRetention(
  tx: TransactionSql,
  organizationId: number,
  { days, rules }: RetentionSettings,
  nowMs: number,
): Promise<void> {
  const asJson = tx.json(
    rules.map(({ service, level, days: ruleDays }) => ({ service, level, days: ruleDays })),
  );
  await tx`
    INSERT INTO log_retention (organization_id, days, rules, updated_at)
    VALUES (${organizationId}, ${days}, ${asJson}, ${new Date(nowMs)})
    ON CONFLICT (organization_id) DO UPDATE
    SET days = excluded.days, rules = excluded.rules, updated_at = excluded.updated_at`;
}
