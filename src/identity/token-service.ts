import type { Sql } from "postgres";
import { ApiError } from "../errors.ts";
import type { Change } from "../http/change.ts";
import type { Principal } from "../http/principal.ts";
import { validationFailed } from "../http/validate.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import { inOrganization } from "../storage/organization-transaction.ts";
import type { Authenticator } from "./authenticator.ts";
import { TOKENS_PER_OWNER_MAX } from "./limits.ts";
import { scopesBeyond } from "./scope-grants.ts";
import { hashToken, mintPersonalAccessToken, tokenPrefix } from "./secret-token.ts";
import { countTokensLocked, insertToken, listTokens, revokeTokenRow } from "./token-store.ts";
import type { CreateTokenBody, MintedToken, Token } from "./types.ts";

/** The caller's own tokens in the organisation of the credential, revoked ones excluded. */
export function listOwnTokens(sql: Sql, { organizationId, userId }: Principal): Promise<Token[]> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => listTokens(tx, organizationId, userId)),
  );
}

/**
 * Makes a token for the caller. Any role may: a token never exceeds its owner's role, which is read anew at every
 * use. A caller that is a token itself cannot pass on scopes it lacks (PAT_SCOPE_INSUFFICIENT). Throws
 * VALIDATION_FAILED for an expiry that is not in the future and CONFLICT for one token too many.
 */
export async function createToken(change: Change, input: CreateTokenBody): Promise<MintedToken> {
  const { tx, organizationId, principal, nowMs } = change;
  const scopes = [...new Set(input.scopes ?? ["*"])];
  refuseScopesBeyond(principal, scopes);
  const expiresAtMs = input.expiresAt === undefined ? null : Date.parse(input.expiresAt);
  if (expiresAtMs !== null && expiresAtMs <= nowMs) {
    throw validationFailed([{ path: "/expiresAt", code: "custom", message: "must be in the future" }]);
  }
  const token = mintPersonalAccessToken();
  const visible = {
    name: input.name,
    prefix: tokenPrefix(token),
    scopes,
    dailyMutationLimit: input.dailyMutationLimit ?? null,
    dailyLogBytesLimit: input.dailyLogBytesLimit ?? null,
  };
  await requireRoomForToken(change);
  const id = await insertToken(tx, organizationId, {
    ...visible,
    userId: principal.userId,
    tokenHash: hashToken(token),
    createdAtMs: nowMs,
    expiresAtMs,
  });
  const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
  change.record({ resource: `token:${id}`, after: { ...visible, expiresAt } });
  return { id, ...visible, token, createdAt: new Date(nowMs).toISOString(), expiresAt };
}

/** Revokes one of the caller's own tokens; it fails from then on. Throws NOT_FOUND for any other id. */
export async function revokeToken(
  change: Change,
  authenticator: Pick<Authenticator, "forget">,
  tokenId: number,
): Promise<void> {
  const { tx, organizationId, principal, nowMs } = change;
  const revocation = { userId: principal.userId, tokenId, revokedAtMs: nowMs };
  const revoked = await revokeTokenRow(tx, organizationId, revocation);
  if (revoked === null) throw new ApiError("NOT_FOUND", "No such token.");
  const { tokenHash, ...before } = revoked;
  change.record({ resource: `token:${tokenId}`, before });
  change.afterCommit(() => authenticator.forget(tokenHash));
}

function refuseScopesBeyond(principal: Principal, scopes: readonly string[]): void {
  const beyond = scopesBeyond(principal.scopes, scopes);
  if (beyond.length === 0) return;
  throw new ApiError("PAT_SCOPE_INSUFFICIENT", `A token cannot give scopes it lacks: ${beyond.join(", ")}.`);
}

async function requireRoomForToken({ tx, organizationId, principal }: Change): Promise<void> {
  const existing = await countTokensLocked(tx, organizationId, principal.userId);
  if (existing === null) throw new ApiError("UNAUTHENTICATED", "The membership has ended.");
  if (existing < TOKENS_PER_OWNER_MAX) return;
  throw new ApiError("CONFLICT", `There are ${TOKENS_PER_OWNER_MAX} tokens already; revoke one first.`);
}
