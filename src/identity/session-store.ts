import type { Sql, TransactionSql } from "postgres";
import { SESSION_IDLE_MS, SESSIONS_PER_USER_MAX } from "./limits.ts";

/** The queries about sessions as such; turning a cookie into an identity is in credential-store.ts. */

export interface NewSession {
  userId: number;
  tokenHash: Uint8Array;
  createdAtMs: number;
}

/** Begins a session, and ends those of the person that are over or one too many, the longest unused first. */
export async function insertSession(
  tx: TransactionSql,
  organizationId: number,
  input: NewSession,
): Promise<void> {
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
  await tx`
    INSERT INTO sessions (token_hash, organization_id, user_id, created_at, last_used_at, expires_at)
    VALUES (${input.tokenHash}, ${organizationId}, ${input.userId}, ${at}, ${at},
            ${new Date(input.createdAtMs + SESSION_IDLE_MS)})`;
}

/** Ends the sessions with these hashes. Holding a session's token is what entitles to end it. */
export async function deleteSessions(
  sql: Sql | TransactionSql,
  tokenHashes: readonly Uint8Array[],
): Promise<void> {
  if (tokenHashes.length === 0) return;
  await sql`DELETE FROM sessions WHERE token_hash IN ${sql([...tokenHashes])}`;
}
