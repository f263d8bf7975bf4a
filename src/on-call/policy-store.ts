import type { TransactionSql } from "postgres";

/** Whether the organisation has a policy of that id; it is not deleted until the transaction ends. */
export async function hasPolicy(tx: TransactionSql, organizationId: number, id: number): Promise<boolean> {
  const rows = await tx`
    SELECT 1 FROM escalation_policies WHERE organization_id = ${organizationId} AND id = ${id} FOR KEY SHARE`;
  return rows.length > 0;
}
