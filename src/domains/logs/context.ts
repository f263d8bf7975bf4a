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
import type { Row } from "../../storage/stored-rows.ts";
import { readEntry } from "./entry.ts";
import { ENTRY_COLUMNS, type EntryPosition, encodeEntry, positionOf } from "./entry-json.ts";
import { CONTEXT_DEFAULT_ENTRIES, CONTEXT_MAX_ENTRIES } from "./limits.ts";
import { readPage } from "./page.ts";
import type { ReadDependencies } from "./read-logs.ts";
import type { ContextParameters } from "./types.ts";

/** JSON texts of entries, each list oldest first. */
interface EntryContext {
  readonly before: readonly string[];
  readonly entry: string;
  readonly after: readonly string[];
}

/** The neighbours of an entry in the order of time and id; null when the organization has none of that id. */
export async function readEntryContext(
  { logs, budget }: Pick<ReadDependencies, "logs" | "budget">,
  id: string,
  { before, after, sameService, sameHost }: ContextParameters,
): Promise<EntryContext | null> {
  const number = BigInt(id);
  const row = await readEntry(logs, budget, number);
  if (row === null) return null;
  const position = positionOf(row);
  const same = [
    ...(sameService === true ? [{ name: "service", value: cellOf(row, "service") }] : []),
    ...(sameHost === true ? [{ name: "host", value: cellOf(row, "host") }] : []),
  ];
  const ask = async (side: "before" | "after", maxEntries: number): Promise<readonly Row[]> => {
    const { rows } = await readPage(logs, {
      operation: "context",
      plan: neighboursPlan(side, position, same, maxEntries),
      timeRange: ALL_TIME,
      maxRows: CONTEXT_MAX_ENTRIES,
      budget,
      maxEntries,
      order: side === "before" ? "newestFirst" : "oldestFirst",
      judgesApart: true,
    });
    return [...rows];
  };
  const [earlier, later] = await Promise.all([
    ask("before", before ?? CONTEXT_DEFAULT_ENTRIES),
    ask("after", after ?? CONTEXT_DEFAULT_ENTRIES),
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
