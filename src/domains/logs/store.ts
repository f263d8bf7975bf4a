import {
  ALL_TIME,
  emit,
  guardPlan,
  type LogFilter,
  type QueryBudget,
  type TimeRange,
} from "../../../query/index.ts";
import type { QueryAnswer, QueryCaller, QueryRunner } from "../../storage/query-runner.ts";
import type { StatementCost } from "../../storage/statement-wire.ts";
import { PAGE_MAX_ENTRIES, TOTAL_BUDGET } from "./limits.ts";
import { countPlan, entryPlan, newestIdPlan, type PageStart, pagePlan } from "./search-plans.ts";

interface LogReaderOptions {
  readonly runner: QueryRunner;
  /** What a page or an entry may cost. */
  readonly budget: QueryBudget;
}

/** Which entries are meant, and of which time. */
export interface LogSelection {
  readonly filter: LogFilter;
  readonly timeRange: TimeRange;
}

/** Rows that are parsed as they are read, which is possible once, and how many they are. */
export interface RowPage extends StatementCost {
  readonly count: number;
  readonly rows: Iterable<readonly unknown[]>;
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
 * Reads the stored logs of one organization at a time. Rows come in the wire formats of `ENTRY_COLUMNS`.
 * Every function throws what `QueryRunner.run` throws.
 */
export class LogReader implements EntrySource {
  readonly #options: LogReaderOptions;

  constructor(options: LogReaderOptions) {
    this.#options = options;
  }

  /** At most `maxEntries` rows, one page and one more, newest first. */
  async readPage(
    caller: QueryCaller,
    { filter, timeRange }: LogSelection,
    start: PageStart | null,
    maxEntries: number,
  ): Promise<RowPage> {
    const { runner, budget } = this.#options;
    const plan = guardPlan(pagePlan(filter, start, maxEntries), {
      organizationId: caller.organizationId,
      timeRange,
      maxRows: PAGE_MAX_ENTRIES + 1,
      budget,
    });
    const { rows, rowsRead, bytesRead } = await runner.read("search", emit(plan), caller);
    return { count: rows.count, rows, rowsRead, bytesRead };
  }

  /** One row with the number of entries that match, as decimal text, counted up to `maxEntries`. */
  async countEntries(
    caller: QueryCaller,
    { filter, timeRange }: LogSelection,
    maxEntries: number,
  ): Promise<QueryAnswer> {
    const { organizationId } = caller;
    const scope = { organizationId, timeRange, maxRows: 1, budget: TOTAL_BUDGET };
    return this.#options.runner.run("count", emit(guardPlan(countPlan(filter, maxEntries), scope)), caller);
  }

  /** One row with the largest id above `floor`, as decimal text, or null. */
  async readNewestId(caller: QueryCaller, floor: bigint): Promise<QueryAnswer> {
    const { runner, budget } = this.#options;
    const { organizationId } = caller;
    const scope = { organizationId, timeRange: ALL_TIME, maxRows: 1, budget };
    return runner.run("newest_id", emit(guardPlan(newestIdPlan(floor), scope)), caller);
  }

  /** The row of an id, or none. */
  async readEntry(caller: QueryCaller, id: bigint): Promise<QueryAnswer> {
    const { runner, budget } = this.#options;
    const { organizationId } = caller;
    const scope = { organizationId, timeRange: ALL_TIME, maxRows: 1, budget };
    return runner.run("entry", emit(guardPlan(entryPlan(id), scope)), caller);
  }
}
