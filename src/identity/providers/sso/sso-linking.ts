import type { Sql } from "postgres";
import type { Principal } from "../../../access/principal.ts";
import { ApiError } from "../../../errors.ts";
import type { RequestContext } from "../../../http/route.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
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
  deps: { readonly sql: Sql; readonly now: () => number },
  caller: Pick<RequestContext, "recordFor">,
  used: ConnectionRecord,
  identity: ProvenIdentity,
  { organizationId, userId, email }: Principal,
): Promise<void> {
  await askPostgres(() =>
    deps.sql.begin(async (tx) => {
      const nowMs = deps.now();
      await lockOrganization(tx, organizationId);
      const connection = await findConnection(tx, organizationId);
      if (connection?.issuer !== used.issuer || connection.clientId !== used.clientId) throw signInExpired();
      const knownId = await useSsoIdentity(tx, organizationId, identity, nowMs);
      if (knownId === userId) return;
      if (knownId !== null) throw new ApiError("CONFLICT", "This identity is linked to another member.");
      const happenings: Happening[] = [];
      if (!(await linkToMember(tx, organizationId, identity, userId, nowMs, happenings)))
        throw new ApiError("CONFLICT", "Your account has another identity of this provider.");
      for (const { action, entry } of happenings)
        await caller.recordFor(tx, organizationId, { userId, tokenId: null, email }, entry, action);
    }),
  );
}
