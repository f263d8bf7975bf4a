import type { Sql } from "postgres";
import type { Principal } from "../../access/principal.ts";
import { actorOf, personOf } from "../../changes/actor.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError } from "../../errors.ts";
import type { RequestContext } from "../../http/route.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { deleteLink, hasWayIn, insertLink, listLinks, lockWaysIn, useLink } from "./identity-store.ts";
import type { ProvenIdentity } from "./openid-conversation.ts";
import type { ServerProvider } from "./provider.ts";
import { linking } from "./sign-in.ts";
import { requirePersonalSession } from "./sso/sso-sessions.ts";
import type { LinkedIdentity } from "./types.ts";

/** The links of a person to providers that are configured; of others nothing can be done. */
export async function listLinkedIdentities(
  sql: Sql,
  providers: readonly ServerProvider[],
  { userId }: Principal,
): Promise<LinkedIdentity[]> {
  const links = await askPostgres(() => listLinks(sql, userId));
  return providers.flatMap(({ id, name, issuer }) =>
    links
      .filter((link) => link.issuer === issuer)
      .map(({ email, linkedAt, lastUsedAt }) => ({ provider: id, name, email, linkedAt, lastUsedAt })),
  );
}

/**
 * Links the identity a provider has proved to the person of the session that asked for it. Throws CONFLICT for an
 * identity that is somebody else's, and for a second one of the same provider.
 */
export async function linkIdentity(
  caller: Pick<RequestContext, "changeAnonymously">,
  provider: ServerProvider,
  identity: ProvenIdentity,
  principal: Principal,
): Promise<void> {
  const { userId, organizationId } = principal;
  await caller.changeAnonymously(async ({ tx, nowMs, by }) => {
    const linkedId = await useLink(tx, identity, nowMs);
    if (linkedId === userId) return;
    if (linkedId !== null)
      throw new ApiError("CONFLICT", `This ${provider.name} identity is linked to another account.`);
    if (!(await insertLink(tx, identity, { userId, nowMs, usedAtMs: null })))
      throw new ApiError(
        "CONFLICT",
        `Your account has another ${provider.name} identity; unlink that first.`,
      );
    const { action, entry } = linking(provider, identity);
    by(organizationId, actorOf(principal)).record(entry, action);
  });
}

/**
 * Ends a link. Throws NOT_FOUND, FORBIDDEN for a credential that does not speak for the person, and CONFLICT when they
 * could not sign in any more. The transaction must reach further than the organisation.
 */
export async function unlinkIdentity(
  change: Change,
  principal: Principal,
  providers: readonly ServerProvider[],
  provider: ServerProvider,
): Promise<void> {
  const { tx } = change;
  const { userId } = personOf(change.actor);
  await requirePersonalSession(tx, principal);
  const others = providers.map(({ issuer }) => issuer).filter((issuer) => issuer !== provider.issuer);
  await lockWaysIn(tx, userId);
  const link = await deleteLink(tx, userId, provider.issuer);
  if (link === null) throw new ApiError("NOT_FOUND", `${provider.name} is not linked.`);
  if (!(await hasWayIn(tx, userId, others)))
    throw new ApiError(
      "CONFLICT",
      "This is your only way to sign in; set a password or link another provider first.",
    );
  const before = { provider: provider.id, ...link };
  change.record({ resource: `identity:${provider.id}`, before });
}
