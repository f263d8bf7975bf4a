import type { Sql } from "postgres";
import type { Principal } from "../../access/principal.ts";
import { hashToken, isSessionToken } from "../../access/secret-token.ts";
import { ApiError } from "../../errors.ts";
import type { Authenticator as Credentials } from "../../http/authenticator.ts";
import type { RequestContext } from "../../http/route.ts";
import type { Authenticator } from "../../identity/authenticator.ts";
import { openSession } from "../../identity/open-session.ts";
import { requirePersonalSession } from "../../identity/providers/sso/sso-sessions.ts";
import { readSessionCookies } from "../../identity/session-cookie.ts";
import { deleteSessions } from "../../identity/session-store.ts";
import { requireOpenEntrance } from "../../membership/entrance.ts";
import { joinByInvite } from "../../membership/join.ts";
import { listOrganizationsOf, lockAccount } from "../../membership/organization-store.ts";
import type { Account, Belonging, OwnOrganization } from "../../membership/types.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";

export interface SignedInDependencies {
  readonly sql: Sql;
  readonly authenticator: Credentials & Pick<Authenticator, "forget">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

type Caller = Pick<RequestContext, "request" | "changeAnonymously">;

/** The organisations of the caller, or the one of a credential that does not speak for the person beyond it. */
export function listOwnOrganizations(sql: Sql, principal: Principal): Promise<OwnOrganization[]> {
  const { userId, organizationId, credentialKey } = principal;
  const session = /^session:(\d+)$/.exec(credentialKey)?.[1];
  const sessionId = session === undefined ? null : Number(session);
  return askPostgres(() => listOrganizationsOf(sql, { userId, organizationId, sessionId }));
}

/**
 * Makes the person of a session a member of the organisation that invited them. What they do there is written down
 * there only: it does not concern the organisation of the session. Throws UNAUTHENTICATED, FORBIDDEN for a
 * credential that speaks for one organisation only, and what `joinByInvite` throws.
 */
export async function acceptInvite(
  deps: SignedInDependencies,
  caller: Caller,
  token: string,
): Promise<Belonging> {
  const { principal } = await requireSession(deps, caller.request);
  return caller.changeAnonymously(async (change) => {
    const found = await lockAccount(change.tx, principal.organizationId, principal.userId);
    if (found === null) throw sessionEnded();
    return joinByInvite(change, { user: found.account.user, token });
  });
}

/**
 * Begins a session in another organisation of the person and ends the one that asks. Like a login it is written down
 * where it leads. Throws UNAUTHENTICATED, FORBIDDEN for a credential that speaks for one organisation only,
 * SSO_REQUIRED, and NOT_FOUND for an organisation the person does not belong to, which may exist or not.
 */
export async function switchOrganization(
  deps: SignedInDependencies,
  caller: Caller,
  organizationId: number,
): Promise<{ account: Account; sessionToken: string }> {
  const { principal, tokenHash } = await requireSession(deps, caller.request);
  const switched = await caller.changeAnonymously(async (change) => {
    const { tx } = change;
    const found = await lockAccount(tx, organizationId, principal.userId);
    if (found === null) throw new ApiError("NOT_FOUND", "No such organisation.");
    await requireOpenEntrance(tx, organizationId, found.role);
    // The session may have been ended since the authenticator was asked; nothing grows out of it then.
    if ((await deleteSessions(tx, [tokenHash])).length === 0) throw sessionEnded();
    const { account } = found;
    return { account, sessionToken: await openSession(change, account) };
  });
  deps.authenticator.forget(tokenHash);
  return switched;
}

/**
 * The session that a request of a public route carries, and its stored form; it must speak for the person beyond its
 * organisation.
 */
async function requireSession(
  { sql, authenticator }: SignedInDependencies,
  request: Request,
): Promise<{ principal: Principal; tokenHash: Uint8Array }> {
  const principal = await authenticator.authenticate(request);
  if (principal === null) throw new ApiError("UNAUTHENTICATED", "A session is required.");
  await askPostgres(() => requirePersonalSession(sql, principal));
  const token = readSessionCookies(request).find(isSessionToken);
  if (token === undefined) throw sessionEnded();
  return { principal, tokenHash: hashToken(token) };
}

function sessionEnded(): ApiError {
  return new ApiError("UNAUTHENTICATED", "The session has ended.");
}
