import { Records } from "../../changes/records.ts";
import { checkQueryText } from "../../kql/issues.ts";
import { namesWithin } from "../../kql/kept/kept-directory.ts";
import { type CreateSavedSearchBody, SavedSearch, type UpdateSavedSearchBody } from "./types.ts";

/** Searches of one organisation: the list is one answer, which somebody reads. */
const SAVED_SEARCHES_MAX = 1000;

export const savedSearches = new Records<typeof SavedSearch, CreateSavedSearchBody, UpdateSavedSearchBody>({
  noun: "saved search",
  table: "saved_searches",
  schema: SavedSearch,
  maxPerOrganization: SAVED_SEARCHES_MAX,
  check: async ({ query }, before, { tx, nowMs, organizationId }) => {
    // A text without anything in it asks for everything, as it does in a search.
    if (typeof query === "string" && query !== before?.query && query.trim() !== "")
      checkQueryText(query, nowMs, await namesWithin(tx, organizationId));
  },
});
