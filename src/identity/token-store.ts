import type { TransactionSql } from "postgres";
import type { Token } from "./types.ts";

/** The queries about personal access tokens; the organisation comes first in each. */

interface NewToken {
  userId: number;
  tokenHash: Uint8Array;
  name: string;
  prefix: string;
  scopes: readonly string[];
  dailyMutationLimit: number | null;
  dailyLogBytesLimit: number | null;
  createdAtMs: number;
  expiresAtMs: number | null;
}

interface TokenRow {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  daily_mutation_limit: string | null;
  daily_log_bytes_limit: string | null;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
}

/** A person's tokens that are not revoked, expired ones included, oldest first. */
export async function listTokens(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
): Promise<Token[]> {
  const rows = await tx<TokenRow[]>`
    SELECT id, name, prefix, scopes, daily_mutation_limit, daily_log_bytes_limit, created_at, expires_at, last_used_at
    FROM personal_access_tokens
    WHERE organization_id = ${organizationId} AND user_id = ${userId} AND revoked_at IS NULL
    ORDER BY id`;
  return rows.map(tokenOf);
}

/**
 * Locks the membership, so that the tokens of one owner are made one after the other, and counts the tokens that
 * are not revoked. Null when the membership has ended.
 */
export async function countTokensLocked(
  tx: TransactionSql,
  organizationId: number,
  userId: number,
): Promise<number | null> {
  const locked = await tx`
    SELECT 1 FROM memberships
    WHERE organization_id = ${organizationId} AND user_id = ${userId}
    FOR NO KEY UPDATE`;
  if (locked.length === 0) return null;
  const [row] = await tx<{ tokens: string }[]>`
    SELECT count(*) AS tokens FROM personal_access_tokens
    WHERE organization_id = ${organizationId} AND user_id = ${userId} AND revoked_at IS NULL`;
  return Number(row?.tokens ?? 0);
}

/** When a token ends, in milliseconds since 1970; null for never, and for one that is gone. */
export async function findTokenExpiry(
  tx: TransactionSql,
  organizationId: number,
  tokenId: number,
): Promise<number | null> {
  const [row] = await tx<{ expires_at: Date | null }[]>`
    SELECT expires_at FROM personal_access_tokens
    WHERE organization_id = ${organizationId} AND id = ${tokenId}`;
  return row?.expires_at?.getTime() ?? null;
}

/** Stores a token and answers its id. */
export async function insertToken(
  tx: TransactionSql,
  organizationId: number,
  input: NewToken,
): Promise<number> {
  const [row] = await tx<{ id: string }[]>`
    INSERT INTO personal_access_tokens (
      organization_id, user_id, token_hash, name, prefix, scopes,
      daily_mutation_limit, daily_log_bytes_limit, created_at, expires_at
    ) VALUES (
      ${organizationId}, ${input.userId}, ${input.tokenHash}, ${input.name}, ${input.prefix}, ${[...input.scopes]},
      ${input.dailyMutationLimit}, ${input.dailyLogBytesLimit}, ${new Date(input.createdAtMs)},
      ${input.expiresAtMs === null ? null : new Date(input.expiresAtMs)}
    )
    RETURNING id`;
  if (row === undefined) throw new Error("an insert returned no row");
  return Number(row.id);
}

/** Revokes a person's token and answers what it was; null when the person has no such live token. */
export async function revokeTokenRow(
  tx: TransactionSql,
  organizationId: number,
  revocation: { userId: number; tokenId: number; revokedAtMs: number },
): Promise<{ tokenHash: Uint8Array; name: string; prefix: string; scopes: string[] } | null> {
  const [row] = await tx<{ token_hash: Uint8Array; name: string; prefix: string; scopes: string[] }[]>`
    UPDATE personal_access_tokens SET revoked_at = ${new Date(revocation.revokedAtMs)}
    WHERE organization_id = ${organizationId} AND user_id = ${revocation.userId}
      AND id = ${revocation.tokenId} AND revoked_at IS NULL
    RETURNING token_hash, name, prefix, scopes`;
  if (row === undefined) return null;
  const { name, prefix, scopes } = row;
  return { tokenHash: row.token_hash, name, prefix, scopes };
}

function tokenOf(row: TokenRow): Token {
  return {
    id: Number(row.id),
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    dailyMutationLimit: row.daily_mutation_limit === null ? null : Number(row.daily_mutation_limit),
    dailyLogBytesLimit: row.daily_log_bytes_limit === null ? null : Number(row.daily_log_bytes_limit),
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}
