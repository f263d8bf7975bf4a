import {
  ALL_TIME,
  emit,
  guardPlan,
  type LogFilter,
  type QueryBudget,
  type TimeRange,
} from "../../../query/index.ts";
import type { QueryAnswer, QueryRunner } from "../../storage/query-runner.ts";
import { PAGE_MAX_ENTRIES, TOTAL_BUDGET } from "./limits.ts";
import { countPlan, entryPlan, newestIdPlan, type PageStart, pagePlan } from "./search-plans.ts";

export interface LogReaderOptions {
  readonly runner: QueryRunner;
  /** What a page or an entry may cost. */
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
    organizationId: number,
    selection: LogSelection,
    start: PageStart | null,
    maxEntries: number,
    signal: AbortSignal,
  ): Promise<QueryAnswer>;
  /** One row with the number of entries that match, as decimal text, counted up to `maxEntries`. */
  countEntries(
    organizationId: number,
    selection: LogSelection,
    maxEntries: number,
    signal: AbortSignal,
  ): Promise<QueryAnswer>;
  /** One row with the `newestId` of later pages, as decimal text, if it is above `floor`, or null. */
  readNewestId(organizationId: number, floor: bigint, signal: AbortSignal): Promise<QueryAnswer>;
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
    organizationId: number,
    { filter, timeRange }: LogSelection,
    start: PageStart | null,
    maxEntries: number,
    signal: AbortSignal,
  ): Promise<QueryAnswer> {
    const { runner, budget } = this.#options;
    const plan = guardPlan(pagePlan(filter, start, maxEntries), {
      organizationId,
      timeRange,
      maxRows: PAGE_MAX_ENTRIES + 1,
      budget,
    });
    return runner.run("search", emit(plan), signal);
  }

  /** One row with the number of entries that match, as decimal text, counted up to `maxEntries`. */
  async countEntries(
    organizationId: number,
    { filter, timeRange }: LogSelection,
    maxEntries: number,
    signal: AbortSignal,
  ): Promise<QueryAnswer> {
    const scope = { organizationId, timeRange, maxRows: 1, budget: TOTAL_BUDGET };
    return this.#options.runner.run("count", emit(guardPlan(countPlan(filter, maxEntries), scope)), signal);
  }

  /** One row with the largest id above `floor`, as decimal text, or null. */
  async readNewestId(organizationId: number, floor: bigint, signal: AbortSignal): Promise<QueryAnswer> {
    const { runner, budget } = this.#options;
    const scope = { organizationId, timeRange: ALL_TIME, maxRows: 1, budget };
    return runner.run("newest_id", emit(guardPlan(newestIdPlan(floor), scope)), signal);
  }

  /** The row of an id, or none. */
  async readEntry(organizationId: number, id: bigint, signal: AbortSignal): Promise<QueryAnswer> {
    const { runner, budget } = this.#options;
    const scope = { organizationId, timeRange: ALL_TIME, maxRows: 1, budget };
    return runner.run("entry", emit(guardPlan(entryPlan(id), scope)), signal);
  }
}
