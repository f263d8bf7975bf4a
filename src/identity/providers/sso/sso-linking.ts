import type { Principal } from "../../../access/principal.ts";
import { actorOf } from "../../../changes/actor.ts";
import { ApiError } from "../../../errors.ts";
import type { RequestContext } from "../../../http/route.ts";
import { lockOrganization } from "../../../storage/organization-transaction.ts";
import { signInExpired } from "../authorization-requests.ts";
import type { ProvenIdentity } from "../openid-conversation.ts";
import type { Happening } from "../provider-session.ts";
import { type ConnectionRecord, findConnection } from "./connection-store.ts";
import { linkToMember } from "./sso-admission.ts";
import { useSsoIdentity } from "./sso-identity-store.ts";

/**
 * Links who somebody is at their organisation's provider to their account, which they have proved to be theirs by the
 * session: the way for owners, and for members with addresses of other domains. Throws CONFLICT for an identity that
 * is somebody else's and for a second one, and SIGN_IN_EXPIRED when the provider was changed.
 */
export async function linkSsoIdentity(
  caller: Pick<RequestContext, "changeAnonymously">,
  used: ConnectionRecord,
  identity: ProvenIdentity,
  principal: Principal,
): Promise<void> {
  const { organizationId, userId } = principal;
  await caller.changeAnonymously(async ({ tx, nowMs, by }) => {
    await lockOrganization(tx, organizationId);
    const connection = await findConnection(tx, organizationId);
    if (connection?.issuer !== used.issuer || connection.clientId !== used.clientId) throw signInExpired();
    const knownId = await useSsoIdentity(tx, organizationId, identity, nowMs);
    if (knownId === userId) return;
    if (knownId !== null) throw new ApiError("CONFLICT", "This identity is linked to another member.");
    const happenings: Happening[] = [];
    if (!(await linkToMember(tx, organizationId, identity, userId, nowMs, happenings)))
      throw new ApiError("CONFLICT", "Your account has another identity of this provider.");
    const change = by(organizationId, actorOf(principal));
    for (const { action, entry } of happenings) change.record(entry, action);
  });
}
