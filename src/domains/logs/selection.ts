import {
  type KeptNames,
  NOTHING_KEPT,
  parseSearch,
  type SearchCondition,
  type TimeRange,
} from "../../../query/index.ts";
import { validationFailed } from "../../errors.ts";
import { compileEntryQuery } from "../../kql/issues.ts";
import type { NamesOf } from "../../kql/kept/kept-directory.ts";
import { parseDateTimeNs } from "./entry-time.ts";
import type { LogSelection } from "./store.ts";
import type { SearchParameters } from "./types.ts";

type FilterParameters = Pick<SearchParameters, "q" | "query" | "service" | "level" | "from" | "to">;

/**
 * The selection that validated parameters describe; `nowMs` is what its query takes for the present. Throws
 * VALIDATION_FAILED for what their schema cannot say, and KQL_INVALID for a query that does not keep entries.
 */
export function readSelection(
  { q, query, service, level, from, to }: FilterParameters,
  nowMs = Date.now(),
  kept: KeptNames = NOTHING_KEPT,
): LogSelection {
  return {
    filter: {
      search: readSearch(q ?? ""),
      service: service ?? null,
      level: level ?? null,
      query: query === undefined || query.trim() === "" ? null : compileEntryQuery(query, nowMs, kept),
    },
    timeRange: readTimeRange(from, to),
  };
}

interface SelectionDependencies {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly kept: NamesOf;
}

/** The same with what the organisation keeps for its queries, which is looked up where there is one. */
export async function selectionOf(
  { now, kept }: SelectionDependencies,
  organizationId: number,
  parameters: FilterParameters,
): Promise<LogSelection> {
  const nowMs = now();
  if (parameters.query === undefined) return readSelection(parameters, nowMs);
  return readSelection(parameters, nowMs, await kept.namesOf(organizationId));
}

function readSearch(text: string): SearchCondition | null {
  const parsed = parseSearch(text);
  if (parsed.ok) return parsed.condition;
  throw validationFailed([{ path: "/q", code: "too_big", message: parsed.error.message }]);
}

function readTimeRange(from: string | undefined, to: string | undefined): TimeRange {
  const range = {
    from: from === undefined ? null : parseDateTimeNs(from),
    to: to === undefined ? null : parseDateTimeNs(to),
  };
  if (range.from !== null && range.to !== null && range.from > range.to)
    throw validationFailed([{ path: "/from", code: "custom", message: "is later than `to`" }]);
  return range;
}
