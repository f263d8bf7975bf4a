import type { Sql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { ApiError } from "../../errors.ts";
import { checkQueryText } from "../../kql/issues.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import {
  countSavedSearchesLocked,
  deleteSavedSearch,
  insertSavedSearch,
  listSavedSearches,
  lockSavedSearch,
  updateSavedSearch,
} from "./store.ts";
import type { CreateSavedSearchBody, SavedSearch, UpdateSavedSearchBody } from "./types.ts";

/** Searches of one organisation: the list is one answer, which somebody reads. */
export const SAVED_SEARCHES_MAX = 1000;

export function listSearches(sql: Sql, organizationId: number): Promise<SavedSearch[]> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => listSavedSearches(tx, organizationId)),
  );
}

/** Throws KQL_INVALID for a query that is none, and CONFLICT for one search too many. */
export async function createSearch(change: Change, body: CreateSavedSearchBody): Promise<SavedSearch> {
  const { tx, organizationId, nowMs } = change;
  checkQuery(body.query, nowMs);
  if ((await countSavedSearchesLocked(tx, organizationId)) >= SAVED_SEARCHES_MAX)
    throw new ApiError(
      "CONFLICT",
      `There are ${SAVED_SEARCHES_MAX} saved searches already; delete one first.`,
    );
  const search = await insertSavedSearch(tx, organizationId, { ...NO_FIELDS, ...body }, nowMs);
  change.record({ resource: resourceOf(search.id), after: search });
  return search;
}

/** Throws NOT_FOUND for an id that the organisation has not, and KQL_INVALID for a changed query that is none. */
export async function changeSearch(
  change: Change,
  id: number,
  body: UpdateSavedSearchBody,
): Promise<SavedSearch> {
  const { tx, organizationId, nowMs } = change;
  const before = await lockSavedSearch(tx, organizationId, id);
  if (before === null) throw noSuchSearch();
  if (body.query !== before.query) checkQuery(body.query, nowMs);
  const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = before;
  const after = await updateSavedSearch(tx, organizationId, id, { ...fields, ...body }, nowMs);
  change.record({ resource: resourceOf(id), before, after });
  return after;
}

/** Throws NOT_FOUND for an id that the organisation has not. */
export async function removeSearch(change: Change, id: number): Promise<void> {
  const before = await lockSavedSearch(change.tx, change.organizationId, id);
  if (before === null) throw noSuchSearch();
  await deleteSavedSearch(change.tx, change.organizationId, id);
  change.record({ resource: resourceOf(id), before });
}

function resourceOf(id: number): string {
  return `saved-search:${id}`;
}

const NO_FIELDS = {
  description: null,
  query: null,
  q: null,
  service: null,
  level: null,
  rangeMinutes: null,
};

/** A text without anything in it asks for everything, as it does in a search. */
function checkQuery(query: string | null | undefined, nowMs: number): void {
  if (query !== null && query !== undefined && query.trim() !== "") checkQueryText(query, nowMs);
}

function noSuchSearch(): ApiError {
  return new ApiError("NOT_FOUND", "No such saved search.");
}
