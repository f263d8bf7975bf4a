import type { TransactionSql } from "postgres";
import { SESSION_IDLE_MS, SESSIONS_PER_USER_MAX } from "./limits.ts";

/** The queries about sessions as such; turning a cookie into an identity is in credential-store.ts. */

interface NewSession {
  userId: number;
  tokenHash: Uint8Array;
  createdAtMs: number;
}

/** A session that has been ended by its token. */
interface EndedSession {
  id: number;
  organizationId: number;
  userId: number;
  email: string;
}

/** Begins a session, ends those of the person that are over or one too many, the longest unused first; its id. */
export async function insertSession(
  tx: TransactionSql,
  organizationId: number,
  input: NewSession,
): Promise<number> {
  const at = new Date(input.createdAtMs);
  await tx`
    DELETE FROM sessions
    WHERE user_id = ${input.userId} AND (
      expires_at <= ${at} OR id IN (
        SELECT id FROM sessions WHERE user_id = ${input.userId}
        ORDER BY last_used_at DESC, id DESC
        OFFSET ${SESSIONS_PER_USER_MAX - 1}
      )
    )`;
  const [row] = await tx<{ id: string }[]>`
    INSERT INTO sessions (token_hash, organization_id, user_id, created_at, last_used_at, expires_at)
    VALUES (${input.tokenHash}, ${organizationId}, ${input.userId}, ${at}, ${at},
            ${new Date(input.createdAtMs + SESSION_IDLE_MS)})
    RETURNING id`;
  if (row === undefined) throw new Error("an insert returned no row");
  return Number(row.id);
}

/** Ends the sessions of a person in all organisations, but for the one with the hash `kept`; the hashes of those ended. */
export async function deleteSessionsOf(
  tx: TransactionSql,
  userId: number,
  kept: Uint8Array | null,
): Promise<Uint8Array[]> {
  const rows = await tx<{ token_hash: Uint8Array }[]>`
    DELETE FROM sessions WHERE user_id = ${userId} AND token_hash IS DISTINCT FROM ${kept}::bytea
    RETURNING token_hash`;
  return rows.map((row) => row.token_hash);
}

/** Ends the sessions with these hashes. Holding a session's token is what entitles to end it. */
export async function deleteSessions(
  tx: TransactionSql,
  tokenHashes: readonly Uint8Array[],
): Promise<EndedSession[]> {
  if (tokenHashes.length === 0) return [];
  const rows = await tx<{ id: string; organization_id: number; user_id: string; email: string }[]>`
    DELETE FROM sessions s USING users u
    WHERE s.token_hash IN ${tx([...tokenHashes])} AND u.id = s.user_id
    RETURNING s.id, s.organization_id, s.user_id, u.email`;
  return rows.map((row) => ({
    id: Number(row.id),
    organizationId: row.organization_id,
    userId: Number(row.user_id),
    email: row.email,
  }));
}
