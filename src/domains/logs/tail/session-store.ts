import type { Sql } from "postgres";
import type { Principal } from "../../../http/principal.ts";
import type { TailParameters } from "./types.ts";

/** The queries about tail sessions. A session is found by the hash of its token, which is what names its organization. */

export interface TailSession {
  readonly id: number;
  readonly organizationId: number;
  readonly parameters: TailParameters;
}

export interface NewTailSession {
  readonly tokenHash: Uint8Array;
  readonly principal: Principal;
  readonly parameters: TailParameters;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Stores a session; false when the organization has `maxSessions` already. Clears away what has expired. */
export async function insertTailSession(
  sql: Sql,
  organizationId: number,
  session: NewTailSession,
  maxSessions: number,
): Promise<boolean> {
  const { tokenHash, principal, parameters, createdAtMs, expiresAtMs } = session;
  const createdAt = new Date(createdAtMs);
  await sql`DELETE FROM tail_sessions WHERE organization_id = ${organizationId} AND expires_at <= ${createdAt}`;
  const inserted = await sql`
    INSERT INTO tail_sessions
      (token_hash, organization_id, user_id, token_id, session_id, filter, created_at, expires_at)
    SELECT ${tokenHash}::bytea, ${organizationId}::integer, ${principal.userId}::bigint,
           ${principal.tokenId}::bigint, ${sessionIdOf(principal)}::bigint,
           ${JSON.stringify(parameters)}::text::jsonb, ${createdAt}::timestamptz, ${new Date(expiresAtMs)}::timestamptz
    WHERE (SELECT count(*) FROM tail_sessions WHERE organization_id = ${organizationId}) < ${maxSessions}
    RETURNING 1`;
  return inserted.length > 0;
}

/** The session with this hash, which gets a new end; null when it is unknown, expired, or its credential is not valid any more. */
export async function useTailSession(
  sql: Sql,
  tokenHash: Uint8Array,
  nowMs: number,
  expiresAtMs: number,
): Promise<TailSession | null> {
  const [row] = await sql<{ id: string; organization_id: number; filter: TailParameters }[]>`
    UPDATE tail_sessions t SET expires_at = ${new Date(expiresAtMs)}
    WHERE t.token_hash = ${tokenHash} AND t.expires_at > ${new Date(nowMs)}
      AND ${credentialIsValid(sql, nowMs)}
    RETURNING t.id, t.organization_id, t.filter`;
  if (row === undefined) return null;
  return { id: Number(row.id), organizationId: row.organization_id, parameters: row.filter };
}

/** Those of the sessions whose credential is still valid. */
export async function validTailSessions(sql: Sql, ids: readonly number[], nowMs: number): Promise<number[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT t.id FROM tail_sessions t
    WHERE t.id = ANY(${[...ids]}::bigint[]) AND ${credentialIsValid(sql, nowMs)}`;
  return rows.map(({ id }) => Number(id));
}

/** Moves the end of sessions. Rows another server is writing at this moment are left to it. */
export async function extendTailSessions(
  sql: Sql,
  ids: readonly number[],
  expiresAtMs: number,
): Promise<void> {
  await sql`
    WITH used AS (
      SELECT id FROM tail_sessions WHERE id = ANY(${[...ids]}::bigint[]) FOR UPDATE SKIP LOCKED
    )
    UPDATE tail_sessions t SET expires_at = ${new Date(expiresAtMs)} FROM used WHERE t.id = used.id`;
}

/** That the credential which made session `t` is neither revoked nor expired; foreign keys see to its membership. */
function credentialIsValid(sql: Sql, nowMs: number) {
  const now = new Date(nowMs);
  return sql`(
    EXISTS (
      SELECT 1 FROM personal_access_tokens p
      WHERE p.id = t.token_id AND p.revoked_at IS NULL AND (p.expires_at IS NULL OR p.expires_at > ${now})
    )
    OR EXISTS (SELECT 1 FROM sessions s WHERE s.id = t.session_id AND s.expires_at > ${now})
  )`;
}

/** The row of a cookie's session, which its credential key names; null for a token. */
function sessionIdOf({ kind, credentialKey }: Principal): number | null {
  return kind === "session" ? Number(credentialKey.slice("session:".length)) : null;
}
