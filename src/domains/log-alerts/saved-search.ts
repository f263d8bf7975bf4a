import type { TransactionSql } from "postgres";
import { LEVEL_NUMBERS } from "../../../ingest/index.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import type { CreateLogAlertBody } from "./types.ts";

/** What a saved search looks for: words as `q`, and KQL. */
interface SavedTerms {
  readonly q: string | null;
  readonly query: string | null;
  readonly service: string | null;
  readonly level: string | null;
}

/** Throws NOT_FOUND for one that the organisation has not. */
export type ReadSavedSearch = (tx: TransactionSql, organizationId: number, id: number) => Promise<SavedTerms>;

/**
 * The body of a rule with what the saved search looks for that it names; what it says itself holds. Throws VALIDATION_FAILED for a search
 * that there is not, or that no rule can look for.
 */
export async function withSavedSearch(
  { tx, organizationId }: Change,
  body: CreateLogAlertBody,
  readSavedSearch: ReadSavedSearch,
): Promise<CreateLogAlertBody> {
  const { fromSavedSearch } = body;
  if (fromSavedSearch === undefined) return body;
  const { q, query, service, level } = await readSavedSearch(tx, organizationId, fromSavedSearch).catch(
    (error: unknown) => {
      if (error instanceof ApiError && error.code === "NOT_FOUND")
        throw refused("is no saved search of yours");
      throw error;
    },
  );
  const known = Object.keys(LEVEL_NUMBERS).find((each) => each === level);
  if (level !== null && level !== "" && known === undefined)
    throw refused("looks for a level that no entry has");
  const isSaid = (text: string | null): text is string => text !== null && text.trim() !== "";
  return {
    ...(isSaid(q) && { query: q }),
    ...(isSaid(query) && { kql: query }),
    ...(isSaid(service) && { service }),
    ...(known !== undefined && { level: known }),
    ...body,
  };
}

function refused(message: string): ApiError {
  return validationFailed([{ path: "/fromSavedSearch", code: "custom", message }]);
}
