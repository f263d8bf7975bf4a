import type { Change } from "../../changes/change.ts";
import { type PutKey, putMany } from "../../changes/make-many.ts";
import { Records } from "../../changes/records.ts";
import { entityKey } from "../../entities/entity-key.ts";
import { putRecordEntities, type RecordEntity, removeRecordEntity } from "../../entities/entity-store.ts";
import { IDENTITIES_MAX } from "../../entities/limits.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import { type CreateIdentityBody, Identity, type UpdateIdentityBody } from "./types.ts";

export const identities = new Records<typeof Identity, CreateIdentityBody, UpdateIdentityBody>({
  noun: "identity",
  table: "identities",
  schema: Identity,
  maxPerOrganization: IDENTITIES_MAX,
  check: async ({ principal }, before, { tx, organizationId }) => {
    if (principal === undefined) return;
    const key = keyOf(principal);
    if (before === null || key === keyOf(before.principal)) return;
    const [other] = await tx`
      SELECT 1 FROM identities WHERE organization_id = ${organizationId} AND lower(principal) = lower(${principal})`;
    if (other !== undefined) throw new ApiError("CONFLICT", "Another identity has this principal.");
  },
});

/** Makes an identity, or changes the one that has its principal. Throws VALIDATION_FAILED, and CONFLICT for one too many. */
export async function putIdentity(
  change: Change,
  body: CreateIdentityBody,
): Promise<{ record: Identity; isNew: boolean }> {
  const put = await identities.put(change, body, (tx) => tx`lower(principal) = lower(${body.principal})`);
  await noteEntity(change, put.record);
  return put;
}

/** The same of many, whose records it answers in their order. */
export async function putIdentities(
  change: Change,
  bodies: readonly CreateIdentityBody[],
): Promise<Identity[]> {
  const { tx, organizationId } = change;
  await lockOrganization(tx, organizationId);
  const keys = await tx<PutKey[]>`
    SELECT lower(given.principal) AS key, EXISTS (
      SELECT 1 FROM identities
      WHERE organization_id = ${organizationId} AND lower(identities.principal) = lower(given.principal)) AS "isTaken"
    FROM unnest(${bodies.map(({ principal }) => principal)}::text[]) WITH ORDINALITY AS given (principal, place)
    ORDER BY place`;
  return putMany(bodies, keys, {
    together: async (some) => {
      const made = await identities.createAll(change, some);
      await putRecordEntities(tx, organizationId, made.map(namedEntity), change.nowMs);
      return made;
    },
    alone: async (body) => (await putIdentity(change, body)).record,
  });
}

/** Throws NOT_FOUND, VALIDATION_FAILED, and CONFLICT for a principal that another has. */
export async function updateIdentity(
  change: Change,
  id: number,
  body: UpdateIdentityBody,
): Promise<Identity> {
  const identity = await identities.update(change, id, body);
  if (body.principal !== undefined)
    await removeRecordEntity(change.tx, change.organizationId, "identity", id);
  await noteEntity(change, identity);
  return identity;
}

/** Throws NOT_FOUND. */
export async function removeIdentity(change: Change, id: number): Promise<void> {
  await identities.remove(change, id);
  await removeRecordEntity(change.tx, change.organizationId, "identity", id);
}

function keyOf(principal: string): string {
  const key = entityKey("identity", principal);
  if (key !== null) return key;
  throw validationFailed([{ path: "/principal", code: "invalid_string", message: "has to say a name" }]);
}

/** Writes the identity into the graph. */
function noteEntity({ tx, organizationId, nowMs }: Change, identity: Identity): Promise<void> {
  return putRecordEntities(tx, organizationId, [namedEntity(identity)], nowMs);
}

/** The identity in the graph with its other names. */
function namedEntity({ id, principal, displayName, aliases }: Identity): RecordEntity {
  const key = keyOf(principal);
  const keys = new Set(aliases.flatMap((alias) => entityKey("identity", alias) ?? []));
  keys.delete(key);
  return {
    ...{ type: "identity", key, name: displayName ?? principal, recordId: id },
    aliases: [...keys].map((other) => ({ type: "identity", key: other })),
  };
}
