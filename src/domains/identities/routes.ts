import type { Sql } from "postgres";
import { BY_ID, resource } from "../../http/resource.ts";
import { identities, putIdentity, removeIdentity, updateIdentity } from "./records.ts";
import { CreateIdentityBody, Identity, UpdateIdentityBody } from "./types.ts";

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
    routes.put(CreateIdentityBody, Identity, putIdentity),
    routes.read(Identity, ({ organizationId }, id) => identities.read(sql, organizationId, id)),
    routes.update(UpdateIdentityBody, updateIdentity, { errors: ["CONFLICT"] }),
    routes.remove(removeIdentity),
  ];
}
