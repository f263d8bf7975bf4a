import type { TransactionSql } from "postgres";

/** The queries of policies that are not those of every record; the organisation comes first in each. */

/** The schedules among some ids; they are not deleted until the transaction ends. */
export async function existingSchedules(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
): Promise<Set<number>> {
  const rows = await tx<{ id: string }[]>`
    SELECT id FROM on_call_schedules
    WHERE organization_id = ${organizationId} AND id = ANY(${[...ids]}::bigint[]) FOR KEY SHARE`;
  return new Set(rows.map(({ id }) => Number(id)));
}

/** Until the transaction ends nothing comes to use the policy. */
export async function lockPolicy(tx: TransactionSql, organizationId: number, id: number): Promise<void> {
  await tx`SELECT 1 FROM escalation_policies WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`;
}

/** What escalates by a policy, as `monitor:17`. */
export async function whatUsesPolicy(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    SELECT 'monitor:' || id AS name FROM monitors
    WHERE organization_id = ${organizationId} AND escalation_policy_id = ${id}
    UNION ALL
    SELECT 'alert-receiver:' || id FROM alert_receivers
    WHERE organization_id = ${organizationId} AND escalation_policy_id = ${id}
    UNION ALL
    SELECT 'the default of the organisation' FROM alert_defaults
    WHERE organization_id = ${organizationId} AND escalation_policy_id = ${id}
    LIMIT 5`;
  return rows.map(({ name }) => name);
}
