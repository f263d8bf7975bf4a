import type { TransactionSql } from "postgres";

/** The queries about how people are reached; the organisation comes first in each, then the person. */

type ContactKind = "email" | "sms" | "voice" | "template";

export interface ContactRow {
  readonly id: number;
  readonly userId: number;
  readonly kind: ContactKind;
  readonly label: string;
  readonly sealed: Uint8Array;
  readonly codeHash: Uint8Array | null;
  readonly codeExpiresAt: Date | null;
  readonly codeAttempts: number;
  readonly verifiedAt: Date | null;
  readonly createdAt: Date;
}

interface StoredRow {
  id: string;
  user_id: string;
  kind: ContactKind;
  label: string;
  sealed: Uint8Array;
  code_hash: Uint8Array | null;
  code_expires_at: Date | null;
  code_attempts: number;
  verified_at: Date | null;
  created_at: Date;
}

/** A person's, oldest first. */
export async function listContacts(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
): Promise<ContactRow[]> {
  const rows = await tx<StoredRow[]>`
    SELECT * FROM contact_methods WHERE organization_id = ${organizationId} AND user_id = ${userId} ORDER BY id`;
  return rows.map(rowOf);
}

/** Null when the person has none of that id. */
export async function lockContact(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
  id: number,
): Promise<ContactRow | null> {
  const [row] = await tx<StoredRow[]>`
    SELECT * FROM contact_methods
    WHERE organization_id = ${organizationId} AND user_id = ${userId} AND id = ${id} FOR UPDATE`;
  return row === undefined ? null : rowOf(row);
}

/** Locks the membership, so that a person's are made one after the other, and counts them. */
export async function countContacts(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
): Promise<number> {
  await tx`
    SELECT 1 FROM memberships WHERE organization_id = ${organizationId} AND user_id = ${userId} FOR NO KEY UPDATE`;
  const [row] = await tx<{ contacts: number }[]>`
    SELECT count(*)::integer AS contacts FROM contact_methods
    WHERE organization_id = ${organizationId} AND user_id = ${userId}`;
  return row?.contacts ?? 0;
}

export async function insertContact(
  tx: TransactionSql,
  organizationId: number,
  contact: { userId: number; kind: ContactKind; label: string; sealed: Uint8Array; nowMs: number },
): Promise<ContactRow> {
  const { userId, kind, label, sealed, nowMs } = contact;
  const now = new Date(nowMs);
  const [row] = await tx<StoredRow[]>`
    INSERT INTO contact_methods (organization_id, user_id, kind, label, sealed, created_at, updated_at)
    VALUES (${organizationId}, ${userId}, ${kind}, ${label}, ${sealed}, ${now}, ${now}) RETURNING *`;
  if (row === undefined) throw new Error("an insert returned no row");
  return rowOf(row);
}

/** A new code, of which no attempt was made. */
export async function setCode(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  { hash, expiresAt }: { hash: Uint8Array; expiresAt: Date },
): Promise<void> {
  await tx`
    UPDATE contact_methods SET code_hash = ${hash}, code_expires_at = ${expiresAt}, code_attempts = 0
    WHERE organization_id = ${organizationId} AND id = ${id}`;
}

/** Counts an attempt; a right one, at `verifiedAtMs`, ends the code. */
export async function updateAttempt(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  verifiedAtMs: number | null,
): Promise<void> {
  const verifiedAt = verifiedAtMs === null ? null : new Date(verifiedAtMs);
  await tx`
    UPDATE contact_methods
    SET code_attempts = code_attempts + 1, verified_at = ${verifiedAt},
        code_hash = CASE WHEN ${verifiedAt}::timestamptz IS NULL THEN code_hash END
    WHERE organization_id = ${organizationId} AND id = ${id}`;
}

export async function deleteContact(tx: TransactionSql, organizationId: number, id: number): Promise<void> {
  await tx`DELETE FROM contact_methods WHERE organization_id = ${organizationId} AND id = ${id}`;
}

/** Deliveries whose event begins so, since a time. */
export async function codesSentSince(
  tx: TransactionSql,
  organizationId: number,
  prefix: string,
  since: Date,
): Promise<number> {
  const [row] = await tx<{ codes: number }[]>`
    SELECT count(*)::integer AS codes FROM deliveries
    WHERE organization_id = ${organizationId} AND starts_with(event_id, ${prefix}) AND created_at > ${since}`;
  return row?.codes ?? 0;
}

function rowOf(row: StoredRow): ContactRow {
  return {
    id: Number(row.id),
    userId: Number(row.user_id),
    kind: row.kind,
    label: row.label,
    sealed: row.sealed,
    codeHash: row.code_hash,
    codeExpiresAt: row.code_expires_at,
    codeAttempts: row.code_attempts,
    verifiedAt: row.verified_at,
    createdAt: row.created_at,
  };
}
