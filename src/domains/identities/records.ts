import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { entityKey } from "../../entities/entity-key.ts";
import { putAliases, putRecordEntity, removeRecordEntity } from "../../entities/entity-store.ts";
import { IDENTITIES_MAX } from "../../entities/limits.ts";
import { ApiError, validationFailed } from "../../errors.ts";
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

/** The identity in the graph with its other names. */
async function noteEntity({ tx, organizationId, nowMs }: Change, identity: Identity): Promise<void> {
  const { id, principal, displayName, aliases } = identity;
  const entity = {
    type: "identity",
    key: keyOf(principal),
    name: displayName ?? principal,
    recordId: id,
  } as const;
  const entityId = await putRecordEntity(tx, organizationId, entity, nowMs);
  const keys = new Set(aliases.flatMap((alias) => entityKey("identity", alias) ?? []));
  keys.delete(entity.key);
  await putAliases(
    tx,
    organizationId,
    entityId,
    [...keys].map((key) => ({ type: "identity", key }) as const),
    nowMs,
  );
}
