import {
  aggregate,
  aggregateCall,
  allOf,
  anyOf,
  call,
  columnOf,
  filter,
  filteredLogs,
  keep,
  type LogFilter,
  limit,
  literal,
  type Relation,
  scan,
  sort,
} from "../../../query/index.ts";
import { ENTRY_COLUMNS, type EntryPosition } from "./entry-json.ts";

/** Where a later page begins: behind a position, and without what is newer than the first page. */
export interface PageStart {
  readonly position: EntryPosition;
  readonly newestId: bigint;
}

/**
 * The newest entries, in the order of a search; `start` is null for the first page, which may leave out what is newer
 * than `newestId` too.
 */
export function pagePlan(
  logFilter: LogFilter,
  start: PageStart | null,
  maxEntries: number,
  newestId: bigint | null = null,
): Relation {
  const matching = filteredLogs(logFilter);
  const remaining = start === null ? upTo(matching, newestId) : filter(matching, isBehind(matching, start));
  const ordered = sort(remaining, [
    { expression: columnOf(remaining, "ts"), direction: "descending" },
    { expression: columnOf(remaining, "id"), direction: "descending" },
  ]);
  return keep(limit(ordered, maxEntries), ENTRY_COLUMNS);
}

/** The number of entries that match, counted up to `maxEntries`. */
export function countPlan(logFilter: LogFilter, maxEntries: number): Relation {
  return aggregate(
    limit(keep(filteredLogs(logFilter), []), maxEntries),
    [],
    [aggregateCall("total", "count")],
  );
}

/** The largest id above `floor`; null when there is none. */
export function newestIdPlan(floor: bigint): Relation {
  const logs = scan("logs");
  const id = columnOf(logs, "id");
  return aggregate(
    filter(logs, call("greater", id, literal("long", floor))),
    [],
    [aggregateCall("id", "max", id)],
  );
}

export function entryPlan(id: bigint): Relation {
  const logs = scan("logs");
  return keep(
    limit(filter(logs, call("equal", columnOf(logs, "id"), literal("long", id))), 1),
    ENTRY_COLUMNS,
  );
}

function upTo(logs: Relation, newestId: bigint | null): Relation {
  if (newestId === null) return logs;
  return filter(logs, call("lessOrEqual", columnOf(logs, "id"), literal("long", newestId)));
}

/** The condition on `ts` alone comes first: it is what ClickHouse finds its place in the primary key by. */
function isBehind(logs: Relation, { position, newestId }: PageStart) {
  const ts = columnOf(logs, "ts");
  const id = columnOf(logs, "id");
  const time = literal("datetime", position.tsNs);
  return allOf([
    call("lessOrEqual", ts, time),
    anyOf([call("less", ts, time), call("less", id, literal("long", position.id))]),
    call("lessOrEqual", id, literal("long", newestId)),
  ]);
}
