import type { Sql } from "postgres";
import type { Principal } from "../access/principal.ts";
import { hashToken, mintPersonalAccessToken, tokenPrefix } from "../access/secret-token.ts";
import { personOf } from "../changes/actor.ts";
import type { Change } from "../changes/change.ts";
import { ApiError, validationFailed } from "../errors.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import { inOrganization } from "../storage/organization-transaction.ts";
import type { Authenticator } from "./authenticator.ts";
import { TOKENS_PER_OWNER_MAX } from "./limits.ts";
import { scopesBeyond } from "./scope-grants.ts";
import {
  countTokensLocked,
  findTokenExpiry,
  insertToken,
  listTokens,
  revokeTokenRow,
} from "./token-store.ts";
import type { CreateTokenBody, MintedToken, Token } from "./types.ts";

/** The caller's own tokens in the organisation of the credential, revoked ones excluded. */
export function listOwnTokens(sql: Sql, { organizationId, userId }: Principal): Promise<Token[]> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => listTokens(tx, organizationId, userId)),
  );
}

/**
 * Makes a token for the caller. Any role may: a token never exceeds its owner's role, which is read anew at every
 * use. A caller that is a token itself gives neither scopes it lacks (PAT_SCOPE_INSUFFICIENT) nor a longer life than
 * its own, and none at all when it has a daily cap, which the new token would have once more (FORBIDDEN). Throws
 * VALIDATION_FAILED for an expiry that is not in the future and CONFLICT for one token too many.
 */
export async function createToken(
  change: Change,
  principal: Principal,
  input: CreateTokenBody,
): Promise<MintedToken> {
  const { tx, organizationId, nowMs } = change;
  const scopes = [...new Set(input.scopes ?? ["*"])];
  refuseScopesBeyond(principal, scopes);
  refuseCapped(principal);
  const lastMs = await ownExpiry(change, principal);
  const expiresAtMs = input.expiresAt === undefined ? lastMs : Date.parse(input.expiresAt);
  if (expiresAtMs !== null && expiresAtMs <= nowMs) throw wrongExpiry("must be in the future");
  if (lastMs !== null && expiresAtMs !== null && expiresAtMs > lastMs)
    throw wrongExpiry("must not be after that of the token which makes it");
  const token = mintPersonalAccessToken();
  const visible = {
    name: input.name,
    prefix: tokenPrefix(token),
    scopes,
    dailyMutationLimit: input.dailyMutationLimit ?? null,
    dailyLogBytesLimit: input.dailyLogBytesLimit ?? null,
  };
  await requireRoomForToken(change, principal);
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
  const { tx, organizationId, actor, nowMs } = change;
  const revocation = { userId: personOf(actor).userId, tokenId, revokedAtMs: nowMs };
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

function refuseCapped({ caps }: Principal): void {
  if (caps.dailyMutations === null && caps.dailyLogBytes === null) return;
  throw new ApiError("FORBIDDEN", "A token with a daily cap makes no tokens.");
}

/** Until when the token that asks is good, in milliseconds since 1970; null for a session and for one without end. */
async function ownExpiry({ tx, organizationId }: Change, { tokenId }: Principal): Promise<number | null> {
  return tokenId === null ? null : findTokenExpiry(tx, organizationId, tokenId);
}

function wrongExpiry(message: string): ApiError {
  return validationFailed([{ path: "/expiresAt", code: "custom", message }]);
}

async function requireRoomForToken({ tx, organizationId }: Change, { userId }: Principal): Promise<void> {
  const existing = await countTokensLocked(tx, organizationId, userId);
  if (existing === null) throw new ApiError("UNAUTHENTICATED", "The membership has ended.");
  if (existing < TOKENS_PER_OWNER_MAX) return;
  throw new ApiError("CONFLICT", `There are ${TOKENS_PER_OWNER_MAX} tokens already; revoke one first.`);
}
