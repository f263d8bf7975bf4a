import type { TransactionSql } from "postgres";

/** The incident of a key that is open, and whether somebody takes care of it; null when none is. */
export async function openIncidentOf(
  tx: TransactionSql,
  organizationId: number,
  key: string,
): Promise<{ id: number; isAcknowledged: boolean } | null> {
  const [row] = await tx<{ id: string; is_acknowledged: boolean }[]>`
    SELECT id, acknowledged_at IS NOT NULL AS is_acknowledged FROM incidents
    WHERE organization_id = ${organizationId} AND source_key = ${key} AND resolved_at IS NULL`;
  return row === undefined ? null : { id: Number(row.id), isAcknowledged: row.is_acknowledged };
}
