import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { entityKey } from "../../entities/entity-key.ts";
import { putAliases, putRecordEntity, removeRecordEntity } from "../../entities/entity-store.ts";
import { ASSETS_MAX } from "../../entities/limits.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { Asset, type CreateAssetBody, type UpdateAssetBody } from "./types.ts";

export const assets = new Records<typeof Asset, CreateAssetBody, UpdateAssetBody>({
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

/** Makes an asset, or changes the one that has its address. Throws VALIDATION_FAILED, and CONFLICT for one too many. */
export async function putAsset(
  change: Change,
  body: CreateAssetBody,
): Promise<{ record: Asset; isNew: boolean }> {
  const ip = addressOf(body.ip);
  const put = await assets.put(change, { ...body, ip }, (tx) => tx`ip = ${ip}`);
  await noteEntity(change, put.record);
  return put;
}

/** Throws NOT_FOUND, VALIDATION_FAILED, and CONFLICT for an address that another has. */
export async function updateAsset(change: Change, id: number, body: UpdateAssetBody): Promise<Asset> {
  const fields = body.ip === undefined ? body : { ...body, ip: addressOf(body.ip) };
  const asset = await assets.update(change, id, fields);
  if (fields.ip !== undefined) await removeRecordEntity(change.tx, change.organizationId, "asset", id);
  await noteEntity(change, asset);
  return asset;
}

/** Throws NOT_FOUND. */
export async function removeAsset(change: Change, id: number): Promise<void> {
  await assets.remove(change, id);
  await removeRecordEntity(change.tx, change.organizationId, "asset", id);
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
