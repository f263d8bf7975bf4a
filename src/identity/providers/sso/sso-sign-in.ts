import type { TransactionSql } from "postgres";
import { hashToken } from "../../../access/secret-token.ts";
import type { RequestContext } from "../../../http/route.ts";
import { lockAccount } from "../../../membership/organization-store.ts";
import { lockOrganization } from "../../../storage/organization-transaction.ts";
import type { Authenticator } from "../../authenticator.ts";
import { deleteSessions } from "../../session-store.ts";
import { signInExpired } from "../authorization-requests.ts";
import type { ProvenIdentity } from "../openid-conversation.ts";
import { type Happening, openProviderSession } from "../provider-session.ts";
import { type ConnectionRecord, findConnection } from "./connection-store.ts";
import { admit } from "./sso-admission.ts";
import { useSsoIdentity } from "./sso-identity-store.ts";
import { followMapping } from "./sso-roles.ts";

interface SsoSignInDependencies {
  readonly authenticator: Pick<Authenticator, "forget">;
}

/**
 * Signs in whom the provider of an organisation vouches for, into that organisation only, and ends the sessions whose
 * tokens the request brought; the token of the new one. Somebody the provider has not signed in before is admitted
 * first; members get the role their groups give. Throws SIGN_IN_EXPIRED when the provider was changed meanwhile, and
 * what `admit` throws.
 */
export async function signInBySso(
  deps: SsoSignInDependencies,
  caller: Pick<RequestContext, "changeAnonymously">,
  used: ConnectionRecord,
  identity: ProvenIdentity,
  broughtTokens: readonly string[],
): Promise<string> {
  const { organizationId } = used;
  const brought = broughtTokens.map(hashToken);
  const token = await caller.changeAnonymously(async (change) => {
    const { tx, nowMs } = change;
    await lockOrganization(tx, organizationId);
    const connection = await requireSame(tx, used);
    const knownId = await useSsoIdentity(tx, organizationId, identity, nowMs);
    const happenings: Happening[] = [];
    const userId = knownId ?? (await admit(tx, connection, identity, nowMs, happenings));
    await followMapping(tx, connection, { userId, groups: identity.groups }, happenings);
    const member = await lockAccount(tx, organizationId, userId);
    if (member === null) throw new Error("somebody with an identity is no member");
    await deleteSessions(tx, brought);
    return openProviderSession(change, member.account, {
      bySso: true,
      action: "SSO_LOGIN",
      facts: { issuer: identity.issuer, subject: identity.subject },
      happenings,
    });
  });
  for (const tokenHash of brought) deps.authenticator.forget(tokenHash);
  return token;
}

/** The connection as it is now, which must still be the one that the provider was asked for. */
async function requireSame(tx: TransactionSql, used: ConnectionRecord): Promise<ConnectionRecord> {
  const connection = await findConnection(tx, used.organizationId);
  if (connection?.issuer !== used.issuer || connection.clientId !== used.clientId) throw signInExpired();
  return connection;
}
