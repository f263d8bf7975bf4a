import type { TransactionSql } from "postgres";
import type { ProvenIdentity } from "../openid-conversation.ts";

/** The queries about who members are at the provider of their organisation. */

/** Whose identity this is in the organisation, which then was used at `nowMs`; null when it is nobody's yet. */
export async function useSsoIdentity(
  tx: TransactionSql,
  organizationId: number,
  { issuer, subject }: ProvenIdentity,
  nowMs: number,
): Promise<number | null> {
  const [row] = await tx<{ user_id: string }[]>`
    UPDATE sso_identities SET last_used_at = ${new Date(nowMs)}
    WHERE organization_id = ${organizationId} AND issuer = ${issuer} AND subject = ${subject}
    RETURNING user_id`;
  return row === undefined ? null : Number(row.user_id);
}

/** The person must be a member. False when the identity is somebody's already, or they have another one. */
export async function insertSsoIdentity(
  tx: TransactionSql,
  organizationId: number,
  { issuer, subject }: ProvenIdentity,
  userId: number,
  nowMs: number,
): Promise<boolean> {
  const now = new Date(nowMs);
  const inserted = await tx`
    INSERT INTO sso_identities (organization_id, issuer, subject, user_id, created_at, last_used_at)
    VALUES (${organizationId}, ${issuer}, ${subject}, ${userId}, ${now}, ${now})
    ON CONFLICT DO NOTHING
    RETURNING 1`;
  return inserted.length > 0;
}

/** Ends every identity of the organisation's provider. */
export async function deleteSsoIdentities(tx: TransactionSql, organizationId: number): Promise<void> {
  await tx`DELETE FROM sso_identities WHERE organization_id = ${organizationId}`;
}
