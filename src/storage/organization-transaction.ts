import type { Sql, TransactionSql } from "postgres";

/** The role of row-level security; see the migrations. */
export const ORGANIZATION_ROLE = "obs_organization";

/**
 * Runs `work` as one transaction that sees and touches rows of one organisation only, whatever its statements say.
 * Everything the server does on behalf of an organisation goes through here; what concerns several (finding out whom
 * a credential belongs to, jobs) does not.
 */
export function inOrganization<T>(
  sql: Sql,
  organizationId: number,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T>;
export async function inOrganization(
  sql: Sql,
  organizationId: number,
  work: (tx: TransactionSql) => Promise<unknown>,
): Promise<unknown> {
  return sql.begin(async (tx) => {
    await restrictToOrganization(tx, organizationId);
    return work(tx);
  });
}

/** Makes the rest of a transaction see one organisation only. */
export async function restrictToOrganization(tx: TransactionSql, organizationId: number): Promise<void> {
  await tx`
    SELECT set_config('obs.organization_id', ${String(organizationId)}, true),
           set_config('role', ${ORGANIZATION_ROLE}, true)`;
}

/** Locks the organisation: changes of who belongs to it, as what, and of its secrets happen one after the other. */
export async function lockOrganization(tx: TransactionSql, organizationId: number): Promise<void> {
  await tx`SELECT 1 FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`;
}
