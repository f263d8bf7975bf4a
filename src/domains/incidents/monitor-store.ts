import type { TransactionSql } from "postgres";

/** The queries about monitors that incidents ask; the organisation comes first in each. */

/** Those of the ids that are no monitor of the organisation. */
export async function unknownMonitors(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const rows = await tx<{ id: string }[]>`
    SELECT id FROM monitors WHERE organization_id = ${organizationId} AND id = ANY(${[...ids]}::bigint[])`;
  const known = new Set(rows.map(({ id }) => Number(id)));
  return new Set(ids.filter((id) => !known.has(id)));
}
