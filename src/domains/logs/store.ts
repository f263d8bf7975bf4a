import { ALL_TIME, type LogFilter, type QueryBudget, type TimeRange } from "../../../query/index.ts";
import type { LogStatement, RangeReading } from "../../archive/reading/range-reading.ts";
import { patientBudget } from "../../concurrency/patience.ts";
import { judgesRowsApart } from "../../kql/relation-conditions.ts";
import type { QueryAnswer, QueryCaller } from "../../storage/query-runner.ts";
import { PAGE_MAX_ENTRIES, TOTAL_BUDGET } from "./limits.ts";
import { type RowPage, readPage } from "./page.ts";
import { countPlan, newestIdPlan, type PageStart, pagePlan } from "./search-plans.ts";

interface LogReaderOptions {
  readonly logs: RangeReading;
  /** What a page may cost. */
  readonly budget: QueryBudget;
}

/** Which entries are meant, and of which time. */
export interface LogSelection {
  readonly filter: LogFilter;
  readonly timeRange: TimeRange;
}

/** What a search reads of one organization; every function throws what `QueryRunner.run` throws. */
export interface EntrySource {
  /** At most `maxEntries` rows in the wire formats of `ENTRY_COLUMNS`, newest first. */
  readPage(
    caller: QueryCaller,
    selection: LogSelection,
    start: PageStart | null,
    maxEntries: number,
  ): Promise<RowPage>;
  /** One row with the number of entries that match, as decimal text, counted up to `maxEntries`. */
  countEntries(caller: QueryCaller, selection: LogSelection, maxEntries: number): Promise<QueryAnswer>;
  /** One row with the `newestId` of later pages, as decimal text, if it is above `floor`, or null. */
  readNewestId(caller: QueryCaller, floor: bigint): Promise<QueryAnswer>;
}

/**
 * Reads the entries of one organization wherever they lie. Rows come in the wire formats of `ENTRY_COLUMNS`.
 * Every function throws what `RangeReading` throws.
 */
export class LogReader implements EntrySource {
  readonly #options: LogReaderOptions;

  constructor(options: LogReaderOptions) {
    this.#options = options;
  }

  /** At most `maxEntries` rows, one page and one more, newest first. */
  readPage(
    _caller: QueryCaller,
    { filter, timeRange }: LogSelection,
    start: PageStart | null,
    maxEntries: number,
  ): Promise<RowPage> {
    const { logs, budget } = this.#options;
    return readPage(logs, {
      operation: "search",
      plan: pagePlan(filter, start, maxEntries),
      timeRange,
      maxRows: PAGE_MAX_ENTRIES + 1,
      budget,
      maxEntries,
      order: "newestFirst",
      judgesApart: judgesRowsApart(filter.query ?? null),
    });
  }

  /** One row with the number of entries that match, as decimal text, counted up to `maxEntries`. */
  async countEntries(
    _caller: QueryCaller,
    { filter, timeRange }: LogSelection,
    maxEntries: number,
  ): Promise<QueryAnswer> {
    const { logs } = this.#options;
    const plan = countPlan(filter, maxEntries);
    const statement = {
      operation: "count",
      plan,
      timeRange,
      maxRows: 1,
      budget: patientBudget(TOTAL_BUDGET),
    };
    if (!judgesRowsApart(filter.query ?? null)) return logs.run(statement);
    const hot = await logs.runHot(statement);
    // Most searches without an end in time need not look into the archive to say that there are many.
    if (Number(hot.rows[0]?.[0]) >= maxEntries || !(await logs.archived.isInArchive(statement))) return hot;
    const known =
      Number(hot.rows[0]?.[0]) + (await entriesOfWholeFiles(logs, { filter, timeRange }, statement));
    if (known >= maxEntries) return { ...hot, rows: [[String(maxEntries)]] };
    const all = await logs.run(statement);
    return {
      rows: all.rows,
      rowsRead: hot.rowsRead + all.rowsRead,
      bytesRead: hot.bytesRead + all.bytesRead,
    };
  }

  /** One row with the largest id above `floor`, as decimal text, or null: what is archived was received before. */
  readNewestId(_caller: QueryCaller, floor: bigint): Promise<QueryAnswer> {
    const { logs, budget } = this.#options;
    const plan = newestIdPlan(floor);
    return logs.runHot({ operation: "newest_id", plan, timeRange: ALL_TIME, maxRows: 1, budget });
  }
}

/** Entries that the ledger says are meant, and that are in the archive alone; 0 for a filter, of which it says nothing. */
async function entriesOfWholeFiles(
  logs: RangeReading,
  { filter: { search, service, level, query }, timeRange: { from, to } }: LogSelection,
  statement: LogStatement,
): Promise<number> {
  if (search !== null || service !== null || level !== null || (query ?? null) !== null) return 0;
  const files = await logs.archived.filesFor(statement);
  return files
    .filter(({ isMoving, minTs, maxTs }) => !isMoving && (from ?? minTs) <= minTs && (to ?? maxTs) >= maxTs)
    .reduce((sum, { rows }) => sum + rows, 0);
}
