import type { TransactionSql } from "postgres";

/** The queries about webhook secrets, which are stored encrypted; the organisation comes first in each. */

export interface StoredSecret {
  readonly id: number;
  readonly sealed: Uint8Array;
  readonly createdAtMs: number;
  /** Null for the present one. */
  readonly expiresAtMs: number | null;
}

/** Those that sign at this moment: the present one, then those it replaced, the latest first. */
export async function listSigningSecrets(
  tx: TransactionSql,
  organizationId: number,
  nowMs: number,
): Promise<StoredSecret[]> {
  const rows = await tx<{ id: string; secret: Uint8Array; created_at: Date; expires_at: Date | null }[]>`
    SELECT id, secret, created_at, expires_at FROM webhook_secrets
    WHERE organization_id = ${organizationId} AND (expires_at IS NULL OR expires_at > ${new Date(nowMs)})
    ORDER BY expires_at DESC NULLS FIRST, id DESC`;
  return rows.map((row) => ({
    id: Number(row.id),
    sealed: row.secret,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at?.getTime() ?? null,
  }));
}

/** Stores a secret as the present one, unless there is one. */
export async function insertPresentSecret(
  tx: TransactionSql,
  organizationId: number,
  sealed: Uint8Array,
  createdAtMs: number,
): Promise<void> {
  await tx`
    INSERT INTO webhook_secrets (organization_id, secret, created_at)
    VALUES (${organizationId}, ${sealed}, ${new Date(createdAtMs)})
    ON CONFLICT (organization_id) WHERE expires_at IS NULL DO NOTHING`;
}

/** Gives the present secret its end, and clears away those that are over. */
export async function retirePresentSecret(
  tx: TransactionSql,
  organizationId: number,
  { nowMs, expiresAtMs }: { nowMs: number; expiresAtMs: number },
): Promise<void> {
  await tx`
    DELETE FROM webhook_secrets WHERE organization_id = ${organizationId} AND expires_at <= ${new Date(nowMs)}`;
  await tx`
    UPDATE webhook_secrets SET expires_at = ${new Date(expiresAtMs)}
    WHERE organization_id = ${organizationId} AND expires_at IS NULL`;
}
