import { parseSearch, type SearchCondition, type TimeRange } from "../../../query/index.ts";
import { validationFailed } from "../../http/validate.ts";
import { parseDateTimeNs } from "./entry-time.ts";
import type { LogSelection } from "./store.ts";
import type { SearchParameters } from "./types.ts";

export type FilterParameters = Pick<SearchParameters, "q" | "service" | "level" | "from" | "to">;

/** The selection that validated parameters describe. Throws VALIDATION_FAILED for what their schema cannot say. */
export function readSelection({ q, service, level, from, to }: FilterParameters): LogSelection {
  return {
    filter: { search: readSearch(q ?? ""), service: service ?? null, level: level ?? null },
    timeRange: readTimeRange(from, to),
  };
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
