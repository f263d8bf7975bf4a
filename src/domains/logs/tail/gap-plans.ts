import {
  call,
  columnOf,
  filter,
  filteredLogs,
  keep,
  type LogFilter,
  limit,
  literal,
  type Relation,
  sort,
} from "../../../../query/index.ts";

/** These columns of the entries that the filter lets through with an id above `after`, in the order of their ids. */
export function entriesAfterPlan(
  logFilter: LogFilter,
  after: bigint,
  maxEntries: number,
  columns: readonly string[],
): Relation {
  const matching = filteredLogs(logFilter);
  const later = filter(matching, call("greater", columnOf(matching, "id"), literal("long", after)));
  const ordered = sort(later, [{ expression: columnOf(later, "id"), direction: "ascending" }]);
  return keep(limit(ordered, maxEntries), columns);
}
