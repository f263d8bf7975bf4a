import type { Sql } from "postgres";
import { ApiError } from "../../errors.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { checkQueryText } from "../logs/kql.ts";
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

export interface SavedSearchDependencies {
  readonly sql: Sql;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function listSearches(
  { sql }: SavedSearchDependencies,
  organizationId: number,
): Promise<SavedSearch[]> {
  return askPostgres(() => listSavedSearches(sql, organizationId));
}

/** Throws KQL_INVALID for a query that is none, and CONFLICT for one search too many. */
export async function createSearch(
  { sql, now }: SavedSearchDependencies,
  organizationId: number,
  body: CreateSavedSearchBody,
): Promise<SavedSearch> {
  checkQuery(body.query, now());
  const fields = { ...NO_FIELDS, ...body };
  return askPostgres(() =>
    sql.begin(async (tx) => {
      if ((await countSavedSearchesLocked(tx, organizationId)) >= SAVED_SEARCHES_MAX)
        throw new ApiError(
          "CONFLICT",
          `There are ${SAVED_SEARCHES_MAX} saved searches already; delete one first.`,
        );
      return insertSavedSearch(tx, organizationId, fields, now());
    }),
  );
}

/** Throws NOT_FOUND for an id that the organisation has not, and KQL_INVALID for a changed query that is none. */
export async function changeSearch(
  { sql, now }: SavedSearchDependencies,
  organizationId: number,
  id: number,
  body: UpdateSavedSearchBody,
): Promise<SavedSearch> {
  return askPostgres(() =>
    sql.begin(async (tx) => {
      const present = await lockSavedSearch(tx, organizationId, id);
      if (present === null) throw noSuchSearch();
      if (body.query !== present.query) checkQuery(body.query, now());
      const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = present;
      return updateSavedSearch(tx, organizationId, id, { ...fields, ...body }, now());
    }),
  );
}

/** Throws NOT_FOUND for an id that the organisation has not. */
export async function removeSearch(
  { sql }: SavedSearchDependencies,
  organizationId: number,
  id: number,
): Promise<void> {
  if (!(await askPostgres(() => deleteSavedSearch(sql, organizationId, id)))) throw noSuchSearch();
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
