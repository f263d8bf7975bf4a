import type { ISql, TransactionSql } from "postgres";
import type { Principal } from "../../../access/principal.ts";
import { ApiError } from "../../../errors.ts";

/**
 * Refuses credentials that do not speak for a person beyond one organisation: tokens, and sessions made through the
 * SSO of an organisation, whose administrators could make one for any of their members. Throws FORBIDDEN.
 */
export async function requirePersonalSession(sql: ISql, { kind, credentialKey }: Principal): Promise<void> {
  const sessionId = /^session:(\d+)$/.exec(credentialKey)?.[1];
  if (kind !== "session" || sessionId === undefined)
    throw new ApiError("FORBIDDEN", "This takes a session; a token does not speak for a person.");
  const [row] = await sql<{ by_sso: boolean }[]>`SELECT by_sso FROM sessions WHERE id = ${sessionId}`;
  if (row === undefined) throw new ApiError("UNAUTHENTICATED", "The session has ended.");
  if (!row.by_sso) return;
  throw new ApiError(
    "FORBIDDEN",
    "A session made through the organisation's SSO does not reach beyond it; sign in another way for this.",
  );
}

/** Ends the sessions that were made through the SSO of an organisation; the hashes of their tokens. */
export async function endSsoSessions(tx: TransactionSql, organizationId: number): Promise<Uint8Array[]> {
  const rows = await tx<{ token_hash: Uint8Array }[]>`
    DELETE FROM sessions WHERE organization_id = ${organizationId} AND by_sso RETURNING token_hash`;
  return rows.map((row) => row.token_hash);
}

/** Ends the sessions that were made otherwise, except those of owners; the hashes of their tokens. */
export async function endOtherSessions(tx: TransactionSql, organizationId: number): Promise<Uint8Array[]> {
  const rows = await tx<{ token_hash: Uint8Array }[]>`
    DELETE FROM sessions s USING memberships m
    WHERE s.organization_id = ${organizationId} AND NOT s.by_sso
      AND m.organization_id = s.organization_id AND m.user_id = s.user_id AND m.role <> 'owner'
    RETURNING s.token_hash`;
  return rows.map((row) => row.token_hash);
}
