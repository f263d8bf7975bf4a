import { configKind } from "../../configuration/config-kind.ts";
import { recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import { savedSearches } from "./records.ts";
import { CreateSavedSearchBody, UpdateSavedSearchBody } from "./types.ts";

/** Saved searches as files describe them. */
export const savedSearchKind = configKind({
  kind: "saved-searches",
  audit: "SAVED_SEARCH",
  table: "saved_searches",
  read: { role: "viewer", scope: "logs:read" },
  write: { role: "member", scope: "logs:write" },
  create: CreateSavedSearchBody,
  update: UpdateSavedSearchBody,
  list: recordsOf(savedSearches),
  ...verbsOf(savedSearches),
});
