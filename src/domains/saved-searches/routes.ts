import type { Sql } from "postgres";
import { Records } from "../../changes/records.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { checkQueryText } from "../../kql/issues.ts";
import type { NamesOf } from "../../kql/kept/kept-directory.ts";
import { CreateSavedSearchBody, SavedSearch, UpdateSavedSearchBody } from "./types.ts";

/** Searches of one organisation: the list is one answer, which somebody reads. */
const SAVED_SEARCHES_MAX = 1000;

const recordsWith = (kept: NamesOf) =>
  new Records<typeof SavedSearch, CreateSavedSearchBody, UpdateSavedSearchBody>({
    noun: "saved search",
    table: "saved_searches",
    schema: SavedSearch,
    maxPerOrganization: SAVED_SEARCHES_MAX,
    check: async ({ query }, before, { nowMs, organizationId }) => {
      // A text without anything in it asks for everything, as it does in a search.
      if (typeof query === "string" && query !== before?.query && query.trim() !== "")
        checkQueryText(query, nowMs, await kept.namesOf(organizationId));
    },
  });

/** Questions about logs that an organisation keeps under a name. */
export function savedSearchRoutes({ sql, kept }: { sql: Sql; kept: NamesOf }) {
  const savedSearches = recordsWith(kept);
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
