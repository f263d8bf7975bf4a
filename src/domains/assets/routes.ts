import type { Sql } from "postgres";
import { BY_ID, resource } from "../../http/resource.ts";
import { assets, putAsset, removeAsset, updateAsset } from "./records.ts";
import { Asset, CreateAssetBody, UpdateAssetBody } from "./types.ts";

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
    routes.put(CreateAssetBody, Asset, putAsset),
    routes.read(Asset, ({ organizationId }, id) => assets.read(sql, organizationId, id)),
    routes.update(UpdateAssetBody, updateAsset, { errors: ["CONFLICT"] }),
    routes.remove(removeAsset),
  ];
}
