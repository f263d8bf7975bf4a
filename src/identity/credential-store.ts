import type { Sql } from "postgres";
import { NO_DAILY_CAPS, type Principal, type Role } from "../access/principal.ts";
import { SESSION_ABSOLUTE_MS, SESSION_IDLE_MS } from "./limits.ts";

/**
 * The queries that turn a token's hash into an identity. They are the only ones of this area that know no
 * organisation beforehand: the credential is what names it.
 */

/** What a stored credential stands for. Times are milliseconds since 1970. */
export interface Credential {
  readonly principal: Principal;
  readonly tokenHash: Uint8Array;
  readonly rowId: number;
  readonly expiresAtMs: number | null;
  readonly lastUsedAtMs: number | null;
}

interface CredentialRow {
  id: string;
  token_hash: Uint8Array;
  organization_id: number;
  user_id: string;
  email: string;
  role: Role;
  expires_at: Date | null;
  last_used_at: Date | null;
}

interface TokenCredentialRow extends CredentialRow {
  scopes: string[];
  daily_mutation_limit: string | null;
  daily_log_bytes_limit: string | null;
}

/** The session with this hash, provided its owner still belongs to the organisation; expiry is left to the caller. */
export async function findSession(sql: Sql, tokenHash: Uint8Array): Promise<Credential | null> {
  const [row] = await sql<CredentialRow[]>`
    SELECT s.id, s.token_hash, s.organization_id, s.user_id, u.email, m.role, s.expires_at, s.last_used_at
    FROM sessions s
    JOIN memberships m ON m.organization_id = s.organization_id AND m.user_id = s.user_id
    JOIN users u ON u.id = s.user_id
    WHERE s.token_hash = ${tokenHash}`;
  if (row === undefined) return null;
  return credentialOf(row, {
    kind: "session",
    scopes: ["*"],
    caps: NO_DAILY_CAPS,
    tokenId: null,
    credentialKey: `session:${row.id}`,
  });
}

/** The token with this hash, provided it is not revoked and its owner still belongs to the organisation. */
export async function findToken(sql: Sql, tokenHash: Uint8Array): Promise<Credential | null> {
  const [row] = await sql<TokenCredentialRow[]>`
    SELECT t.id, t.token_hash, t.organization_id, t.user_id, u.email, m.role, t.expires_at, t.last_used_at, t.scopes,
           t.daily_mutation_limit, t.daily_log_bytes_limit
    FROM personal_access_tokens t
    JOIN memberships m ON m.organization_id = t.organization_id AND m.user_id = t.user_id
    JOIN users u ON u.id = t.user_id
    WHERE t.token_hash = ${tokenHash} AND t.revoked_at IS NULL`;
  if (row === undefined) return null;
  return credentialOf(row, {
    kind: "token",
    scopes: row.scopes,
    caps: {
      dailyMutations: numberOrNull(row.daily_mutation_limit),
      dailyLogBytes: numberOrNull(row.daily_log_bytes_limit),
    },
    tokenId: Number(row.id),
    credentialKey: `token:${row.id}`,
  });
}

/**
 * Writes down that sessions were used at `atMs`, which also moves their end, unless that was done after
 * `notSinceMs`. Rows another instance is writing at this moment are left to it, so that no two can deadlock.
 */
export async function touchSessions(
  sql: Sql,
  ids: readonly number[],
  atMs: number,
  notSinceMs: number,
): Promise<void> {
  const at = new Date(atMs);
  await sql`
    WITH due AS (
      SELECT id FROM sessions
      WHERE id = ANY(${[...ids]}::bigint[]) AND last_used_at <= ${new Date(notSinceMs)} AND expires_at > ${at}
      FOR UPDATE SKIP LOCKED
    )
    UPDATE sessions s
    SET last_used_at = ${at},
        expires_at = LEAST(
          ${new Date(atMs + SESSION_IDLE_MS)}::timestamptz,
          s.created_at + make_interval(secs => ${SESSION_ABSOLUTE_MS / 1000})
        )
    FROM due WHERE s.id = due.id`;
}

/** Writes down that tokens were used at `atMs`, unless that was done after `notSinceMs`. */
export async function touchTokens(
  sql: Sql,
  ids: readonly number[],
  atMs: number,
  notSinceMs: number,
): Promise<void> {
  await sql`
    WITH due AS (
      SELECT id FROM personal_access_tokens
      WHERE id = ANY(${[...ids]}::bigint[]) AND (last_used_at IS NULL OR last_used_at <= ${new Date(notSinceMs)})
      FOR UPDATE SKIP LOCKED
    )
    UPDATE personal_access_tokens t SET last_used_at = ${new Date(atMs)} FROM due WHERE t.id = due.id`;
}

function credentialOf(
  row: CredentialRow,
  own: Pick<Principal, "kind" | "scopes" | "caps" | "tokenId" | "credentialKey">,
): Credential {
  return {
    principal: {
      ...own,
      userId: Number(row.user_id),
      organizationId: row.organization_id,
      email: row.email,
      role: row.role,
    },
    tokenHash: row.token_hash,
    rowId: Number(row.id),
    expiresAtMs: row.expires_at?.getTime() ?? null,
    lastUsedAtMs: row.last_used_at?.getTime() ?? null,
  };
}

function numberOrNull(text: string | null): number | null {
  return text === null ? null : Number(text);
}
