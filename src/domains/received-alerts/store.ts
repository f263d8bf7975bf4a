import type { Sql, TransactionSql } from "postgres";
import type { Severity } from "../../problems/events.ts";

/** The queries about receivers that are found by their token, and about what they opened. */

/** A receiver as it is known to who has its token. */
export interface KnownReceiver {
  readonly id: number;
  readonly organizationId: number;
  readonly name: string;
  readonly severity: Severity;
  readonly escalationPolicyId: number | null;
}

/** Whose the token is, which is all that a sender shows: it belongs to one receiver of one organisation. */
export async function findReceiver(
  sql: Sql | TransactionSql,
  tokenHash: Uint8Array,
): Promise<KnownReceiver | null> {
  const [row] = await sql<
    {
      id: string;
      organization_id: number;
      name: string;
      severity: Severity;
      escalation_policy_id: string | null;
    }[]
  >`SELECT id, organization_id, name, severity, escalation_policy_id FROM alert_receivers
    WHERE token_hash = ${tokenHash}`;
  if (row === undefined) return null;
  const { id, organization_id, name, severity, escalation_policy_id } = row;
  return {
    id: Number(id),
    organizationId: organization_id,
    name,
    severity,
    escalationPolicyId: escalation_policy_id === null ? null : Number(escalation_policy_id),
  };
}

export async function replaceToken(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  tokenHash: Uint8Array,
): Promise<void> {
  await tx`
    UPDATE alert_receivers SET token_hash = ${tokenHash}, updated_at = now()
    WHERE organization_id = ${organizationId} AND id = ${id}`;
}

/** Keys of the incidents of a receiver that are open, at most `limit`. */
export async function openKeys(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  limit: number,
): Promise<string[]> {
  const rows = await tx<{ source_key: string }[]>`
    SELECT source_key FROM incidents
    WHERE organization_id = ${organizationId} AND resolved_at IS NULL AND source_key IS NOT NULL
      AND source @> ${JSON.stringify({ kind: "alert", id })}::text::jsonb
    LIMIT ${limit}`;
  return rows.map(({ source_key }) => source_key);
}
