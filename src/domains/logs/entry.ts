import type { Static } from "typebox";
import { LOG_ID_EPOCH_MS } from "../../../ingest/index.ts";
import { ALL_TIME, type QueryBudget } from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import type { LogStatement, RangeReading } from "../../archive/reading/range-reading.ts";
import { lateCheck } from "../../late-check.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import type { Row } from "../../storage/stored-rows.ts";
import { encodeEntry } from "./entry-json.ts";
import { unreadable } from "./read-logs.ts";
import { entryPlan } from "./search-plans.ts";
import { Entry } from "./types.ts";

const ENTRY = lateCheck(Entry);

/** Ids are unsigned, but time has not set their top bit before 2089: until then the store compares them as signed. */
const LOG_ID_MAX = 2n ** 63n - 1n;

/** The bits of an id below its milliseconds. */
const LOG_ID_BITS_BELOW_MS = 22n;

/** Clocks are corrected, and an id may be of the day before or after its receipt. */
const DAY_MARGIN_MS = 86_400_000;

/** The row of an id in the wire formats of `ENTRY_COLUMNS`; null when there is none. */
export async function readEntry(logs: RangeReading, budget: QueryBudget, id: bigint): Promise<Row | null> {
  if (id > LOG_ID_MAX) return null;
  const statement: LogStatement = {
    operation: "entry",
    plan: entryPlan(id),
    timeRange: ALL_TIME,
    maxRows: 1,
    budget,
  };
  const [hot] = (await logs.readHot(statement)).rows;
  if (hot !== undefined) return hot;
  const files = await logs.archived.filesOfDays(daysAround(id));
  if (files.length === 0) return null;
  const [archived] = (await logs.readFiles(statement, files))?.rows ?? [];
  return archived ?? null;
}

/** An entry as its route answers it, for whoever shows it beside something else; null for one that is not kept any more. */
export async function readLogEntry(
  { ranges, budget }: { readonly ranges: LogRanges; readonly budget: QueryBudget },
  caller: QueryCaller,
  id: bigint,
): Promise<Static<typeof Entry> | null> {
  const { value, coverage } = await ranges.read(caller, (logs) => readEntry(logs, budget, id));
  if (value === null && coverage.partial) throw unreadable();
  if (value === null) return null;
  const entry: unknown = JSON.parse(encodeEntry(value));
  if (!ENTRY.Check(entry)) throw new TypeError("an entry has not its shape");
  return entry;
}

/** The days on which an entry of that id can have been received: the id holds the time. */
function daysAround(id: bigint): [string, string] {
  const receivedMs = Number(id >> LOG_ID_BITS_BELOW_MS) + LOG_ID_EPOCH_MS;
  return [dayOf(receivedMs - DAY_MARGIN_MS), dayOf(receivedMs + DAY_MARGIN_MS)];
}

/** The latest day that can be written is that of the year 9999; an id reaches as far as 2089. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, "YYYY-MM-DD".length);
}
