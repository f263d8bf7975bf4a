import type { Change } from "../../changes/change.ts";
import { type PutKey, putMany } from "../../changes/make-many.ts";
import { Records } from "../../changes/records.ts";
import { entityKey } from "../../entities/entity-key.ts";
import { putRecordEntities, type RecordEntity, removeRecordEntity } from "../../entities/entity-store.ts";
import { ASSETS_MAX } from "../../entities/limits.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
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

/** The same of many, whose records it answers in their order. */
export async function putAssets(change: Change, bodies: readonly CreateAssetBody[]): Promise<Asset[]> {
  const { tx, organizationId } = change;
  const given = bodies.map((body) => ({ ...body, ip: addressOf(body.ip) }));
  await lockOrganization(tx, organizationId);
  const keys = await tx<PutKey[]>`
    SELECT given.ip AS key, EXISTS (
      SELECT 1 FROM assets WHERE organization_id = ${organizationId} AND assets.ip = given.ip) AS "isTaken"
    FROM unnest(${given.map(({ ip }) => ip)}::text[]) WITH ORDINALITY AS given (ip, place) ORDER BY place`;
  return putMany(given, keys, {
    together: async (some) => {
      const made = await assets.createAll(change, some);
      await putRecordEntities(tx, organizationId, made.map(namedEntity), change.nowMs);
      return made;
    },
    alone: async (body) => (await putAsset(change, body)).record,
  });
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

/** Writes the asset into the graph. */
function noteEntity({ tx, organizationId, nowMs }: Change, asset: Asset): Promise<void> {
  return putRecordEntities(tx, organizationId, [namedEntity(asset)], nowMs);
}

/** The asset in the graph, whose address and host name are other names of it. */
function namedEntity({ id, ip, hostname }: Asset): RecordEntity {
  const host = hostname === null ? null : entityKey("host", hostname);
  return {
    ...{ type: "asset", key: ip, name: hostname ?? ip, recordId: id },
    aliases: [
      { type: "ip", key: ip },
      ...(host === null ? [] : [{ type: "host", key: host } satisfies RecordEntity["aliases"][number]]),
    ],
  };
}
