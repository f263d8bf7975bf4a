import type { Sql } from "postgres";
import type { Principal } from "../../../access/principal.ts";
import type { TailParameters } from "./types.ts";

/** The queries about tail sessions. A session is found by the hash of its token, which is what names its organization. */

export interface TailSession {
  readonly id: number;
  readonly organizationId: number;
  readonly userId: number;
  readonly parameters: TailParameters;
}

/** What lets a stream be read: a session of tails, or the credential of its reader. */
export interface TailCredential {
  readonly kind: "tail" | "token" | "session";
  readonly id: number;
}

interface NewTailSession {
  readonly tokenHash: Uint8Array;
  readonly principal: Principal;
  readonly parameters: TailParameters;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** How many there may be. */
interface SessionBounds {
  readonly ofOrganization: number;
  readonly ofPerson: number;
}

/** Stores a session; false when the organization or the person has too many already. Clears away what has expired. */
export async function insertTailSession(
  sql: Sql,
  organizationId: number,
  session: NewTailSession,
  { ofOrganization, ofPerson }: SessionBounds,
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
    WHERE (SELECT count(*) FROM tail_sessions WHERE organization_id = ${organizationId}) < ${ofOrganization}
      AND (SELECT count(*) FROM tail_sessions
           WHERE organization_id = ${organizationId} AND user_id = ${principal.userId}) < ${ofPerson}
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
  const [row] = await sql<UsedSession[]>`
    UPDATE tail_sessions t SET expires_at = ${new Date(expiresAtMs)}
    WHERE t.token_hash = ${tokenHash} AND t.expires_at > ${new Date(nowMs)}
      AND ${credentialIsValid(sql, nowMs)}
    RETURNING t.id, t.organization_id, t.user_id, t.filter`;
  if (row === undefined) return null;
  const { id, organization_id: organizationId, user_id: userId, filter: parameters } = row;
  return { id: Number(id), organizationId, userId: Number(userId), parameters };
}

interface UsedSession {
  readonly id: string;
  readonly organization_id: number;
  readonly user_id: string;
  readonly filter: TailParameters;
}

/** Those of the credentials that are still valid, found out in one statement. */
export function validCredentials(
  sql: Sql,
  credentials: readonly TailCredential[],
  nowMs: number,
): Promise<{ kind: TailCredential["kind"]; id: string }[]> {
  const now = new Date(nowMs);
  const idsOf = (kind: TailCredential["kind"]) =>
    sql`ANY(${credentials.filter((credential) => credential.kind === kind).map(({ id }) => id)}::bigint[])`;
  return sql`
    SELECT 'tail' AS kind, t.id FROM tail_sessions t
    WHERE t.id = ${idsOf("tail")} AND ${credentialIsValid(sql, nowMs)}
    UNION ALL
    SELECT 'token', p.id FROM personal_access_tokens p JOIN memberships m USING (organization_id, user_id)
    WHERE p.id = ${idsOf("token")} AND p.revoked_at IS NULL AND (p.expires_at IS NULL OR p.expires_at > ${now})
    UNION ALL
    SELECT 'session', s.id FROM sessions s JOIN memberships m USING (organization_id, user_id)
    WHERE s.id = ${idsOf("session")} AND s.expires_at > ${now}`;
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
export function sessionIdOf({ kind, credentialKey }: Principal): number | null {
  return kind === "session" ? Number(credentialKey.slice("session:".length)) : null;
}
