import type { ISql, TransactionSql } from "postgres";

/** The queries about links that people are mailed. They belong to people, not to organisations. */

export type LinkPurpose = "reset-password" | "verify-email";

/** Somebody has asked for a link to an address, whether it has an account or not. */
export interface LinkRequest {
  readonly purpose: LinkPurpose;
  readonly email: string;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly requestedAtMs: number;
}

/** A request that is being done. */
export interface TakenLinkRequest extends LinkRequest {
  readonly id: number;
}

/** The person a link was mailed to. */
export interface LinkOwner {
  readonly userId: number;
  readonly email: string;
  readonly emailIsVerified: boolean;
}

interface RequestRow {
  id: string;
  purpose: LinkPurpose;
  email: string;
  ip: string;
  user_agent: string | null;
  requested_at: Date;
}

interface OwnerRow {
  user_id: string;
  email: string;
  email_verified_at: Date | null;
}

export async function insertLinkRequest(sql: ISql, request: LinkRequest): Promise<void> {
  await sql`
    INSERT INTO link_requests (purpose, email, ip, user_agent, requested_at)
    VALUES (${request.purpose}, ${request.email}, ${request.ip}, ${request.userAgent},
            ${new Date(request.requestedAtMs)})`;
}

/** Takes the oldest request that nobody else is taking; it is done with the transaction. */
export async function takeLinkRequest(tx: TransactionSql): Promise<TakenLinkRequest | null> {
  const [row] = await tx<RequestRow[]>`
    DELETE FROM link_requests WHERE id = (
      SELECT id FROM link_requests ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING id, purpose, email, ip, user_agent, requested_at`;
  if (row === undefined) return null;
  const { purpose, email, ip } = row;
  const requestedAtMs = row.requested_at.getTime();
  return { id: Number(row.id), purpose, email, ip, userAgent: row.user_agent, requestedAtMs };
}

export async function dropLinkRequest(sql: ISql, id: number): Promise<void> {
  await sql`DELETE FROM link_requests WHERE id = ${id}`;
}

/** The person with an address, locked; null when there is none. */
export async function findOwnerOfEmail(tx: TransactionSql, email: string): Promise<LinkOwner | null> {
  const [row] = await tx<OwnerRow[]>`
    SELECT id AS user_id, email, email_verified_at FROM users WHERE email = ${email} FOR NO KEY UPDATE`;
  return row === undefined ? null : ownerOf(row);
}

/** Stores a link and drops those of the person that are over or one too many. */
export async function insertLink(
  tx: TransactionSql,
  input: {
    tokenHash: Uint8Array;
    purpose: LinkPurpose;
    userId: number;
    createdAtMs: number;
    expiresAtMs: number;
  },
  keptMax: number,
): Promise<void> {
  const at = new Date(input.createdAtMs);
  await tx`
    DELETE FROM link_tokens
    WHERE user_id = ${input.userId} AND (
      expires_at <= ${at} OR token_hash IN (
        SELECT token_hash FROM link_tokens WHERE user_id = ${input.userId} AND purpose = ${input.purpose}
        ORDER BY created_at DESC
        OFFSET ${keptMax - 1}
      )
    )`;
  await tx`
    INSERT INTO link_tokens (token_hash, purpose, user_id, created_at, expires_at)
    VALUES (${input.tokenHash}, ${input.purpose}, ${input.userId}, ${at}, ${new Date(input.expiresAtMs)})`;
}

/** Whose link this is; null for one that is unknown, expired or used. */
export async function findLinkOwner(
  sql: ISql,
  { purpose, tokenHash, nowMs }: { purpose: LinkPurpose; tokenHash: Uint8Array; nowMs: number },
): Promise<LinkOwner | null> {
  const [row] = await sql<OwnerRow[]>`
    SELECT u.id AS user_id, u.email, u.email_verified_at
    FROM link_tokens l JOIN users u ON u.id = l.user_id
    WHERE l.token_hash = ${tokenHash} AND l.purpose = ${purpose} AND l.expires_at > ${new Date(nowMs)}`;
  return row === undefined ? null : ownerOf(row);
}

/**
 * Uses a link up, and with it all others of its kind; false when it was used meanwhile. Locks the person first, so
 * that two links of one person do not wait for each other.
 */
export async function useLinkUp(
  tx: TransactionSql,
  { purpose, tokenHash, userId }: { purpose: LinkPurpose; tokenHash: Uint8Array; userId: number },
): Promise<boolean> {
  await tx`SELECT 1 FROM users WHERE id = ${userId} FOR NO KEY UPDATE`;
  const used = await tx`
    DELETE FROM link_tokens WHERE token_hash = ${tokenHash} AND user_id = ${userId} RETURNING 1`;
  if (used.length === 0) return false;
  await deleteLinks(tx, purpose, userId);
  return true;
}

export async function deleteLinks(tx: TransactionSql, purpose: LinkPurpose, userId: number): Promise<void> {
  await tx`DELETE FROM link_tokens WHERE user_id = ${userId} AND purpose = ${purpose}`;
}

/** Notes that a person can read mail at their address; false when that was known. */
export async function markEmailVerified(tx: TransactionSql, userId: number, nowMs: number): Promise<boolean> {
  const marked = await tx`
    UPDATE users SET email_verified_at = ${new Date(nowMs)}
    WHERE id = ${userId} AND email_verified_at IS NULL
    RETURNING 1`;
  return marked.length > 0;
}

function ownerOf(row: OwnerRow): LinkOwner {
  return {
    userId: Number(row.user_id),
    email: row.email,
    emailIsVerified: row.email_verified_at !== null,
  };
}
