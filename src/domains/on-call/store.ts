import type { Sql, TransactionSql } from "postgres";

/** The queries of schedules that are not those of every record; the organisation comes first in each. */

/** Locks a schedule, so that its turns are made one after the other; its zone, null when there is none of that id. */
export async function lockSchedule(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<{ timezone: string } | null> {
  const [row] = await tx<{ timezone: string }[]>`
    SELECT timezone FROM on_call_schedules WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`;
  return row ?? null;
}

/** Turns that have not ended. */
export async function countOpenRotations(
  tx: TransactionSql,
  organizationId: number,
  scheduleId: number,
  now: Date,
): Promise<number> {
  const [row] = await tx<{ rotations: string }[]>`
    SELECT count(*) AS rotations FROM on_call_rotations
    WHERE organization_id = ${organizationId} AND schedule_id = ${scheduleId} AND ends_at > ${now}`;
  return Number(row?.rotations ?? 0);
}

/** The policies that ask a schedule who is on call, by their names. */
export async function policiesAsking(
  tx: TransactionSql,
  organizationId: number,
  scheduleId: number,
): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    SELECT name FROM escalation_policies
    WHERE organization_id = ${organizationId} AND steps @> ${tx.json([{ scheduleId }])} ORDER BY id LIMIT 3`;
  return rows.map(({ name }) => name);
}

export async function setCalendarToken(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  tokenHash: Uint8Array | null,
): Promise<void> {
  await tx`
    UPDATE on_call_schedules SET calendar_token_hash = ${tokenHash}
    WHERE organization_id = ${organizationId} AND id = ${id}`;
}

export async function hasCalendar(tx: TransactionSql, organizationId: number, id: number): Promise<boolean> {
  const rows = await tx`
    SELECT 1 FROM on_call_schedules
    WHERE organization_id = ${organizationId} AND id = ${id} AND calendar_token_hash IS NOT NULL`;
  return rows.length > 0;
}

/** Whose calendar a token opens, in any organisation; null for one that is unknown. */
export async function findCalendar(
  sql: Sql,
  tokenHash: Uint8Array,
): Promise<{ organizationId: number; scheduleId: number; name: string } | null> {
  const [row] = await sql<{ organization_id: number; id: string; name: string }[]>`
    SELECT organization_id, id, name FROM on_call_schedules WHERE calendar_token_hash = ${tokenHash}`;
  return row === undefined
    ? null
    : { organizationId: row.organization_id, scheduleId: Number(row.id), name: row.name };
}
