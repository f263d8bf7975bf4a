import type { Sql } from "postgres";
import { BY_ID, resource } from "../../http/resource.ts";
import { savedSearches } from "./records.ts";
import { CreateSavedSearchBody, SavedSearch, UpdateSavedSearchBody } from "./types.ts";

/** Questions about logs that an organisation keeps under a name. */
export function savedSearchRoutes({ sql }: { sql: Sql }) {
  const routes = resource({
    path: "/api/v1/saved-searches",
    tag: "Saved searches",
    one: "a saved search",
    many: "saved searches",
    by: BY_ID,
    record: SavedSearch,
    read: { role: "viewer", scope: "logs:read" },
    write: { role: "member", scope: "logs:write" },
    audit: "SAVED_SEARCH",
  });
  return [
    routes.list("Oldest first", ({ organizationId }) => savedSearches.list(sql, organizationId)),
    routes.create(CreateSavedSearchBody, SavedSearch, savedSearches.create, { errors: ["KQL_INVALID"] }),
    routes.update(UpdateSavedSearchBody, savedSearches.update, { errors: ["KQL_INVALID"] }),
    routes.remove(savedSearches.remove),
  ];
}
