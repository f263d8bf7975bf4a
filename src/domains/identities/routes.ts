import type { Sql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { entityKey } from "../../entities/entity-key.ts";
import { putAliases, putRecordEntity, removeRecordEntity } from "../../entities/entity-store.ts";
import { IDENTITIES_MAX } from "../../entities/limits.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { CreateIdentityBody, Identity, UpdateIdentityBody } from "./types.ts";

const identities = new Records<typeof Identity, CreateIdentityBody, UpdateIdentityBody>({
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

/** People and programs that an organisation knows, by the names they sign in with. */
export function identityRoutes({ sql, cursorKey }: { readonly sql: Sql; readonly cursorKey: Uint8Array }) {
  const routes = resource({
    path: "/api/v1/identities",
    tag: "Security records",
    one: "an identity",
    many: "identities",
    by: BY_ID,
    record: Identity,
    read: { role: "viewer", scope: "security:read" },
    write: { role: "member", scope: "security:write" },
    audit: "IDENTITY",
  });
  return [
    routes.page(Identity, cursorKey, ({ organizationId }, start) =>
      identities.page(sql, organizationId, start),
    ),
    routes.put(CreateIdentityBody, Identity, async (change, body) => {
      const put = await identities.put(change, body, (tx) => tx`lower(principal) = lower(${body.principal})`);
      await noteEntity(change, put.record);
      return put;
    }),
    routes.read(Identity, ({ organizationId }, id) => identities.read(sql, organizationId, id)),
    routes.update(
      UpdateIdentityBody,
      async (change, id, body) => {
        const identity = await identities.update(change, id, body);
        if (body.principal !== undefined)
          await removeRecordEntity(change.tx, change.organizationId, "identity", id);
        await noteEntity(change, identity);
        return identity;
      },
      { errors: ["CONFLICT"] },
    ),
    routes.remove(async (change, id) => {
      await identities.remove(change, id);
      await removeRecordEntity(change.tx, change.organizationId, "identity", id);
    }),
  ];
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
