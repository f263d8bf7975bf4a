import {
  ALL_TIME,
  allOf,
  anyOf,
  call,
  columnOf,
  type Expression,
  filter,
  keep,
  limit,
  literal,
  type Relation,
  scan,
  sort,
} from "../../../query/index.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { ENTRY_COLUMNS, type EntryPosition, encodeEntry, positionOf } from "./entry-json.ts";
import { CONTEXT_DEFAULT_ENTRIES, CONTEXT_MAX_ENTRIES } from "./limits.ts";
import { type ReadDependencies, readLogs } from "./read-logs.ts";
import { entryPlan } from "./search-plans.ts";
import type { ContextParameters } from "./types.ts";

/** Ids are unsigned, but time has not set their top bit before 2089: until then the store compares them as signed. */
const LOG_ID_MAX = 2n ** 63n - 1n;

/** JSON texts of entries, each list oldest first. */
interface EntryContext {
  readonly before: readonly string[];
  readonly entry: string;
  readonly after: readonly string[];
}

/** The neighbours of an entry in the order of time and id; null when the organization has none of that id. */
export async function readEntryContext(
  deps: ReadDependencies,
  caller: QueryCaller,
  id: string,
  { before, after, sameService, sameHost }: ContextParameters,
): Promise<EntryContext | null> {
  const number = BigInt(id);
  if (number > LOG_ID_MAX) return null;
  const ask = async (operation: string, plan: Relation): Promise<readonly (readonly unknown[])[]> =>
    (await readLogs(deps, caller, { operation, plan, timeRange: ALL_TIME, maxRows: CONTEXT_MAX_ENTRIES }))
      .rows;
  const [row] = await ask("entry", entryPlan(number));
  if (row === undefined) return null;
  const position = positionOf(row);
  const same = [
    ...(sameService === true ? [{ name: "service", value: cellOf(row, "service") }] : []),
    ...(sameHost === true ? [{ name: "host", value: cellOf(row, "host") }] : []),
  ];
  const [earlier, later] = await Promise.all([
    ask("context", neighboursPlan("before", position, same, before ?? CONTEXT_DEFAULT_ENTRIES)),
    ask("context", neighboursPlan("after", position, same, after ?? CONTEXT_DEFAULT_ENTRIES)),
  ]);
  return {
    before: earlier.map(encodeEntry).reverse(),
    entry: encodeEntry(row),
    after: later.map(encodeEntry),
  };
}

interface SameValue {
  readonly name: string;
  readonly value: string;
}

/** The nearest entries on one side, the nearest first. */
function neighboursPlan(
  side: "before" | "after",
  { tsNs, id }: EntryPosition,
  same: readonly SameValue[],
  maxEntries: number,
): Relation {
  const logs = scan("logs");
  const ts = columnOf(logs, "ts");
  const time = literal("datetime", tsNs);
  const isBefore = side === "before";
  const conditions: Expression[] = [
    call(isBefore ? "lessOrEqual" : "greaterOrEqual", ts, time),
    anyOf([
      call(isBefore ? "less" : "greater", ts, time),
      call(isBefore ? "less" : "greater", columnOf(logs, "id"), literal("long", id)),
    ]),
    ...same.map(({ name, value }) => call("equal", columnOf(logs, name), literal("string", value))),
  ];
  const neighbours = filter(logs, allOf(conditions));
  const direction = isBefore ? "descending" : "ascending";
  const ordered = sort(neighbours, [
    { expression: columnOf(neighbours, "ts"), direction },
    { expression: columnOf(neighbours, "id"), direction },
  ]);
  return keep(limit(ordered, maxEntries), ENTRY_COLUMNS);
}

function cellOf(row: readonly unknown[], name: (typeof ENTRY_COLUMNS)[number]): string {
  return String(row[ENTRY_COLUMNS.indexOf(name)]);
}
