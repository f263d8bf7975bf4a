import type { Sql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { entityKey } from "../../entities/entity-key.ts";
import { putAliases, putRecordEntity, removeRecordEntity } from "../../entities/entity-store.ts";
import { ASSETS_MAX } from "../../entities/limits.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { Asset, CreateAssetBody, UpdateAssetBody } from "./types.ts";

const assets = new Records<typeof Asset, CreateAssetBody, UpdateAssetBody>({
  noun: "asset",
  table: "assets",
  schema: Asset,
  maxPerOrganization: ASSETS_MAX,
  check: async ({ ip }, before, { tx, organizationId }) => {
    if (ip === undefined || ip === before?.ip || before === null) return;
    const [other] = await tx`SELECT 1 FROM assets WHERE organization_id = ${organizationId} AND ip = ${ip}`;
    if (other !== undefined) throw new ApiError("CONFLICT", "Another asset has this address.");
  },
});

/** Machines that an organisation knows, by their addresses. */
export function assetRoutes({ sql, cursorKey }: { readonly sql: Sql; readonly cursorKey: Uint8Array }) {
  const routes = resource({
    path: "/api/v1/assets",
    tag: "Security records",
    one: "an asset",
    many: "assets",
    by: BY_ID,
    record: Asset,
    read: { role: "viewer", scope: "security:read" },
    write: { role: "member", scope: "security:write" },
    audit: "ASSET",
  });
  return [
    routes.page(Asset, cursorKey, ({ organizationId }, start) => assets.page(sql, organizationId, start)),
    routes.put(CreateAssetBody, Asset, async (change, body) => {
      const ip = addressOf(body.ip);
      const put = await assets.put(change, { ...body, ip }, (tx) => tx`ip = ${ip}`);
      await noteEntity(change, put.record);
      return put;
    }),
    routes.read(Asset, ({ organizationId }, id) => assets.read(sql, organizationId, id)),
    routes.update(
      UpdateAssetBody,
      async (change, id, body) => {
        const fields = body.ip === undefined ? body : { ...body, ip: addressOf(body.ip) };
        const asset = await assets.update(change, id, fields);
        if (fields.ip !== undefined) await removeRecordEntity(change.tx, change.organizationId, "asset", id);
        await noteEntity(change, asset);
        return asset;
      },
      { errors: ["CONFLICT"] },
    ),
    routes.remove(async (change, id) => {
      await assets.remove(change, id);
      await removeRecordEntity(change.tx, change.organizationId, "asset", id);
    }),
  ];
}

/** An address in its one spelling. */
function addressOf(text: string): string {
  const ip = entityKey("asset", text);
  if (ip !== null) return ip;
  throw validationFailed([{ path: "/ip", code: "invalid_string", message: "is no IP address" }]);
}

/** The asset in the graph, whose address and host name are other names of it. */
async function noteEntity({ tx, organizationId, nowMs }: Change, { id, ip, hostname }: Asset): Promise<void> {
  const entity = { type: "asset", key: ip, name: hostname ?? ip, recordId: id } as const;
  const entityId = await putRecordEntity(tx, organizationId, entity, nowMs);
  const host = hostname === null ? null : entityKey("host", hostname);
  await putAliases(
    tx,
    organizationId,
    entityId,
    [{ type: "ip", key: ip } as const, ...(host === null ? [] : [{ type: "host", key: host } as const])],
    nowMs,
  );
}
