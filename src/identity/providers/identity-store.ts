import type { ISql, TransactionSql } from "postgres";
import type { ProvenIdentity } from "./openid-conversation.ts";

/** The queries about who people are at the providers of the whole server. They belong to people, not to organisations. */

/** A person as the provider of an email address finds them. */
export interface PersonOfEmail {
  readonly userId: number;
  /**
   * Whether whoever holds the mailbox may be taken for the person: the address is verified here too, and no second
   * factor guards the account.
   */
  readonly isKnownByEmail: boolean;
}

/** A link between a person and one issuer. */
interface LinkedIdentityRecord {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly linkedAt: string;
  readonly lastUsedAt: string | null;
}

interface LinkRow {
  issuer: string;
  subject: string;
  email: string | null;
  created_at: Date;
  last_used_at: Date | null;
}

/** Whose identity this is, which then was used at `nowMs`; null when nobody has linked it. */
export async function useLink(
  tx: TransactionSql,
  { issuer, subject, email }: ProvenIdentity,
  nowMs: number,
): Promise<number | null> {
  const [row] = await tx<{ user_id: string }[]>`
    UPDATE linked_identities SET last_used_at = ${new Date(nowMs)}, email = ${email}
    WHERE issuer = ${issuer} AND subject = ${subject}
    RETURNING user_id`;
  return row === undefined ? null : Number(row.user_id);
}

/** False when the identity is somebody's already, or the person has another one of this issuer. */
export async function insertLink(
  tx: TransactionSql,
  { issuer, subject, email }: ProvenIdentity,
  { userId, nowMs, usedAtMs }: { userId: number; nowMs: number; usedAtMs: number | null },
): Promise<boolean> {
  const inserted = await tx`
    INSERT INTO linked_identities (issuer, subject, user_id, email, created_at, last_used_at)
    VALUES (${issuer}, ${subject}, ${userId}, ${email}, ${new Date(nowMs)},
            ${usedAtMs === null ? null : new Date(usedAtMs)})
    ON CONFLICT DO NOTHING
    RETURNING 1`;
  return inserted.length > 0;
}

export async function findPersonOfEmail(tx: TransactionSql, email: string): Promise<PersonOfEmail | null> {
  const [row] = await tx<{ id: string; is_known_by_email: boolean }[]>`
    SELECT u.id, u.email_verified_at IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM totp_factors f WHERE f.user_id = u.id AND f.enabled_at IS NOT NULL
    ) AS is_known_by_email
    FROM users u WHERE u.email = ${email}`;
  return row === undefined ? null : { userId: Number(row.id), isKnownByEmail: row.is_known_by_email };
}

export async function markEmailVerified(tx: TransactionSql, userId: number, nowMs: number): Promise<void> {
  await tx`UPDATE users SET email_verified_at = ${new Date(nowMs)} WHERE id = ${userId}`;
}

export async function listLinks(sql: ISql, userId: number): Promise<LinkedIdentityRecord[]> {
  const rows = await sql<LinkRow[]>`
    SELECT issuer, subject, email, created_at, last_used_at FROM linked_identities
    WHERE user_id = ${userId} ORDER BY created_at, issuer`;
  return rows.map(linkOf);
}

/** Ends a link; null when there was none. */
export async function deleteLink(
  tx: TransactionSql,
  userId: number,
  issuer: string,
): Promise<LinkedIdentityRecord | null> {
  const [row] = await tx<LinkRow[]>`
    DELETE FROM linked_identities WHERE user_id = ${userId} AND issuer = ${issuer}
    RETURNING issuer, subject, email, created_at, last_used_at`;
  return row === undefined ? null : linkOf(row);
}

/** Locks the person: their ways in change one after the other. */
export async function lockWaysIn(tx: TransactionSql, userId: number): Promise<void> {
  await tx`SELECT 1 FROM users WHERE id = ${userId} FOR NO KEY UPDATE`;
}

/** Whether a person can sign in: by a password, a link to one of these issuers, or the SSO of an organisation. */
export async function hasWayIn(
  tx: TransactionSql,
  userId: number,
  issuers: readonly string[],
): Promise<boolean> {
  const [row] = await tx<{ has_way_in: boolean }[]>`
    SELECT u.password_hash IS NOT NULL
        OR EXISTS (SELECT 1 FROM linked_identities l
                   WHERE l.user_id = u.id AND l.issuer = ANY(${[...issuers]}::text[]))
        OR EXISTS (SELECT 1 FROM sso_identities s WHERE s.user_id = u.id) AS has_way_in
   
    FROM users u WHERE u.id = ${userId}`;
  return row?.has_way_in ?? false;
}

function linkOf(row: LinkRow): LinkedIdentityRecord {
  return {
    issuer: row.issuer,
    subject: row.subject,
    email: row.email,
    linkedAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}
