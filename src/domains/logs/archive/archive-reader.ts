import { emit, guardPlan, type QueryBudget, type Relation, type TimeRange } from "../../../../query/index.ts";
import type { ArchiveFiles } from "../../../archive/files/archive-files.ts";
import { type Coverage, CoverageTally } from "../../../archive/reading/coverage.ts";
import type { ArchivedFile } from "../../../archive/reading/store.ts";
import { patientBudget } from "../../../concurrency/patience.ts";
import { ApiError } from "../../../errors.ts";
import { judgesRowsApart } from "../../../kql/relation-conditions.ts";
import type { QueryAnswer, QueryCaller, QueryRunner } from "../../../storage/query-runner.ts";
import { positionOf } from "../entry-json.ts";
import { PAGE_MAX_ENTRIES, TOTAL_BUDGET } from "../limits.ts";
import type { RowPage } from "../page.ts";
import { countPlan, type PageStart, pagePlan } from "../search-plans.ts";
import type { EntrySource, LogSelection } from "../store.ts";
import { fileBatches } from "./file-batches.ts";
import { SEARCH_MAX_FILES, STATEMENT_MAX_FILES } from "./limits.ts";
import { RemainingBudget } from "./remaining-budget.ts";

export interface ArchiveReaderOptions {
  readonly runner: QueryRunner;
  /** What the statements of a page may cost together. */
  readonly budget: QueryBudget;
  /** Null when no archive is configured: then every file is missing. */
  readonly files: ArchiveFiles | null;
  /** The organisation's files that can have entries of that time, those with the newest ones first. */
  readonly listFiles: (
    organizationId: number,
    timeRange: TimeRange,
    limit: number,
  ) => Promise<ArchivedFile[]>;
  /** Told about a file that is not where it should be. */
  readonly onMissing: (names: readonly string[]) => void;
}

/** The ids of entries do not bound later pages: files do, which come whole and with entries of any age. */
const ANY_ID = 2n ** 63n - 1n;

/**
 * Reads the archived entries of one organisation for one request. Which files count is settled at its first look. Of
 * many files it reads the newest first, and no more than the page needs.
 */
export class ArchiveReader implements EntrySource {
  readonly #options: ArchiveReaderOptions;
  #listed: Promise<readonly ArchivedFile[]> | null = null;
  readonly #coverage = new CoverageTally();

  constructor(options: ArchiveReaderOptions) {
    this.#options = options;
  }

  /** What has been read so far. */
  coverage(): Coverage {
    return this.#coverage.finish();
  }

  async readPage(
    caller: QueryCaller,
    selection: LogSelection,
    start: PageStart | null,
    maxEntries: number,
  ): Promise<RowPage> {
    const { organizationId } = caller;
    const within =
      start === null
        ? await this.#list(organizationId, selection.timeRange)
        : (await this.#list(organizationId, selection.timeRange)).filter(
            ({ seq, minTs }) => seq <= Number(start.newestId) && minTs <= start.position.tsNs,
          );
    const from = start === null ? null : { ...start, newestId: ANY_ID };
    const plan = pagePlan(selection.filter, from, maxEntries);
    const statements = new Statements(this.#options, "archive_search", this.#options.budget, caller);
    let rows: Row[] = [];
    for (const files of this.#batches(within, selection)) {
      const [next] = files;
      const last = rows.length < maxEntries ? undefined : rows.at(-1);
      // Everything further on is older than the page.
      if (next === undefined || (last !== undefined && positionOf(last).tsNs > next.maxTs)) break;
      const there = this.#present(files);
      if (there.length === 0) continue;
      const timeRange = { ...selection.timeRange, ...(last && { from: positionOf(last).tsNs }) };
      const scope = { organizationId, timeRange, maxRows: PAGE_MAX_ENTRIES + 1 };
      const found = await statements.run(plan, scope, there);
      rows = [...rows, ...found].sort(newestFirst).slice(0, maxEntries);
    }
    const { rowsRead, bytesRead } = statements.budget;
    return { count: rows.length, isCut: false, rows, rowsRead, bytesRead };
  }

  async countEntries(caller: QueryCaller, selection: LogSelection, maxEntries: number): Promise<QueryAnswer> {
    const { organizationId } = caller;
    const files = await this.#list(organizationId, selection.timeRange);
    const statements = new Statements(this.#options, "archive_count", patientBudget(TOTAL_BUDGET), caller);
    const isWhole = (file: ArchivedFile): boolean => takesAll(selection, file);
    let total = files.filter(isWhole).reduce((sum, { rows }) => sum + rows, 0);
    const plan = countPlan(selection.filter, maxEntries);
    const scope = { organizationId, timeRange: selection.timeRange, maxRows: 1 };
    for (const batch of this.#batches(
      files.filter((file) => !isWhole(file)),
      selection,
    )) {
      if (total >= maxEntries) break;
      const there = this.#present(batch);
      if (there.length > 0) total += Number((await statements.run(plan, scope, there))[0]?.[0]);
    }
    const rows = [[String(Math.min(total, maxEntries))]];
    const { rowsRead, bytesRead } = statements.budget;
    return { rows, rowsRead, bytesRead };
  }

  /** What later pages are bounded by is the latest of the files. */
  async readNewestId(): Promise<QueryAnswer> {
    const files = (await this.#listed) ?? [];
    const newest = files.reduce((latest, { seq }) => Math.max(latest, seq), 0);
    return { rows: [[String(newest)]], rowsRead: 0, bytesRead: 0 };
  }

  async #list(organizationId: number, timeRange: TimeRange): Promise<readonly ArchivedFile[]> {
    this.#listed ??= this.#options.listFiles(organizationId, timeRange, SEARCH_MAX_FILES + 1);
    const files = await this.#listed;
    if (files.length > SEARCH_MAX_FILES) throw tooManyFiles();
    return files;
  }

  /** The files by statement, those with the newest entries first. */
  *#batches(files: readonly ArchivedFile[], { filter }: LogSelection): Generator<readonly ArchivedFile[]> {
    if (!judgesRowsApart(filter.query ?? null)) {
      // What the query says of all entries together it has to see together.
      if (files.length > STATEMENT_MAX_FILES) throw tooManyFiles();
      yield files;
      return;
    }
    yield* fileBatches(files);
  }

  /** The files that can be read. */
  #present(listed: readonly ArchivedFile[]): readonly string[] {
    const names = listed.map(({ name }) => name);
    const missing = new Set(this.#options.files?.missing(names) ?? names);
    this.#coverage.addRead(listed);
    if (missing.size === 0) return names;
    this.#coverage.addUnreadable(listed.filter(({ name }) => missing.has(name)));
    this.#options.onMissing([...missing]);
    return names.filter((name) => !missing.has(name));
  }
}

type Row = readonly unknown[];

/** The statements of one question, which share its budget. */
class Statements {
  readonly #options: ArchiveReaderOptions;
  readonly #operation: string;
  readonly #caller: QueryCaller;
  readonly budget: RemainingBudget;

  constructor(options: ArchiveReaderOptions, operation: string, budget: QueryBudget, caller: QueryCaller) {
    this.#options = options;
    this.#operation = operation;
    this.budget = new RemainingBudget(budget);
    this.#caller = caller;
  }

  async run(
    plan: Relation,
    scope: { organizationId: number; timeRange: TimeRange; maxRows: number },
    names: readonly string[],
  ): Promise<readonly Row[]> {
    const { runner, files } = this.#options;
    if (files === null) return [];
    const guarded = guardPlan(plan, { ...scope, budget: this.budget.rest(), files: files.source(names) });
    const answer = await runner.run(this.#operation, emit(guarded), this.#caller);
    this.budget.spend(answer);
    return answer.rows;
  }
}

/** True when every entry of the file is meant. */
function takesAll({ filter, timeRange }: LogSelection, { minTs, maxTs }: ArchivedFile): boolean {
  const { search, service, level, query } = filter;
  if (search !== null || service !== null || level !== null || (query ?? null) !== null) return false;
  return (timeRange.from ?? minTs) <= minTs && (timeRange.to ?? maxTs) >= maxTs;
}

function newestFirst(left: Row, right: Row): number {
  const [a, b] = [positionOf(left), positionOf(right)];
  if (a.tsNs !== b.tsNs) return a.tsNs > b.tsNs ? -1 : 1;
  if (a.id === b.id) return 0;
  return a.id > b.id ? -1 : 1;
}

function tooManyFiles(): ApiError {
  return new ApiError(
    "QUERY_TOO_EXPENSIVE",
    "The query reads more of the archive than the limits allow; narrow the time range.",
  );
}
