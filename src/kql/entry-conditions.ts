import { ApiError } from "../errors.ts";
import { compileEntryQuery, notAllowedHere } from "./issues.ts";
import { conditionsOf } from "./relation-conditions.ts";

/** Two moments: what is read differently at each has the present in it. */
const MOMENTS_MS = [0, Date.parse("2100-01-01T00:00:00Z")];

/**
 * Refuses a text that is more than conditions on single entries. They are asked when entries come and again later, and have to
 * say the same of an entry each time. Throws KQL_INVALID with `path` as the field.
 */
export function requireEntryConditions(kql: string, path: string): void {
  try {
    const [relation, later] = MOMENTS_MS.map((nowMs) => compileEntryQuery(kql, nowMs));
    if (relation === undefined || conditionsOf(relation) === null)
      throw notAllowedHere(kql, "A rule looks at entries one by one: only `where` can stand here.");
    if (!Bun.deepEquals(relation, later))
      throw notAllowedHere(
        kql,
        "A rule goes by the times of entries: the present, as in `now()` and `ago()`, cannot stand here.",
      );
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "KQL_INVALID") throw error;
    const fields = error.fields?.map((field) => ({ ...field, path }));
    throw new ApiError("KQL_INVALID", error.message, {
      ...(fields !== undefined && { fields }),
      cause: error,
    });
  }
}
