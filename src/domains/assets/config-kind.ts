import { configKind } from "../../configuration/config-kind.ts";
import { recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import { entityKey } from "../../entities/entity-key.ts";
import { assets, putAssets, removeAsset, updateAsset } from "./records.ts";
import { CreateAssetBody, UpdateAssetBody } from "./types.ts";

/** Assets as files describe them. */
export const assetKind = configKind({
  kind: "assets",
  audit: "ASSET",
  table: "assets",
  read: { role: "viewer", scope: "security:read" },
  write: { role: "member", scope: "security:write" },
  create: CreateAssetBody,
  update: UpdateAssetBody,
  defaults: { tags: [] },
  naming: ["ip"],
  canonical: (fields) => {
    const ip = typeof fields.ip === "string" ? entityKey("asset", fields.ip) : null;
    return ip === null ? fields : { ...fields, ip };
  },
  list: recordsOf(assets),
  ...verbsOf({
    createAll: putAssets,
    update: updateAsset,
    remove: removeAsset,
  }),
});
