import { LOG_ID_EPOCH_MS } from "../../../../ingest/index.ts";
import { ALL_TIME } from "../../../../query/index.ts";
import { pagedDownload } from "../../../http/paged-download.ts";
import { judgesRowsApart } from "../../../kql/relation-conditions.ts";
import type { QueryCaller } from "../../../storage/query-runner.ts";
import type { Row } from "../../../storage/stored-rows.ts";
import { encodeEntry, positionOf } from "../entry-json.ts";
import { EXPORT_MAX_MS, EXPORT_PAGE_ENTRIES, EXPORT_PAGE_MAX_BYTES } from "../limits.ts";
import { readPage } from "../page.ts";
import { type RangeDependencies, unreadable } from "../read-logs.ts";
import { newestIdPlan, type PageStart, pagePlan } from "../search-plans.ts";
import { selectionOf } from "../selection.ts";
import type { LogSelection } from "../store.ts";
import type { ExportParameters } from "../types.ts";
import { CSV_HEADER, csvLine } from "./csv.ts";

const FORMATS = {
  ndjson: {
    header: "",
    line: (row: readonly unknown[]) => `${encodeEntry(row)}\n`,
    type: "application/x-ndjson",
  },
  csv: { header: CSV_HEADER, line: csvLine, type: "text/csv; charset=utf-8; header=present" },
} as const;

/** The bits of an id below its milliseconds. */
const LOG_ID_BITS_BELOW_MS = 22n;

/**
 * Everything that matches and was there at the beginning, newest first, page by page as the client takes it. The first
 * page is read before the answer begins, so that what is wrong with the request is said with a status; a failure after
 * that breaks the connection, and the file is seen to be incomplete.
 */
export async function exportLogs(
  deps: RangeDependencies,
  caller: QueryCaller,
  { format = "ndjson", ...parameters }: ExportParameters,
): Promise<Response> {
  const { header, line, type } = FORMATS[format];
  return pagedDownload({
    pages: exportPages(deps, caller, await selectionOf(deps, caller.organizationId, parameters)),
    line,
    header,
    contentType: type,
    fileName: `logs.${format}`,
    memory: caller.memory,
    maxMs: EXPORT_MAX_MS,
  });
}

/**
 * Pages of rows; none is empty. What a page may hold is taken from the beginning to the end, so that an export that was
 * begun has the room to come to its end.
 */
async function* exportPages(
  deps: RangeDependencies,
  caller: QueryCaller,
  { filter, timeRange }: LogSelection,
): AsyncGenerator<Iterable<Row>, undefined> {
  const { ranges, budget } = deps;
  caller.memory.reserve(EXPORT_PAGE_MAX_BYTES);
  const newestId = await readNewestId(deps, caller);
  const judgesApart = judgesRowsApart(filter.query ?? null);
  let start: PageStart | null = null;
  let pageEntries = EXPORT_PAGE_ENTRIES;
  for (;;) {
    const question = {
      operation: "export",
      plan: pagePlan(filter, start, pageEntries, newestId),
      timeRange,
      maxRows: EXPORT_PAGE_ENTRIES,
      budget,
      maxEntries: pageEntries,
      order: "newestFirst",
      judgesApart,
      maxBytes: EXPORT_PAGE_MAX_BYTES,
    } as const;
    const { value, coverage } = await ranges.read(caller, (logs) => readPage(logs, question));
    if (coverage.partial) throw unreadable();
    const { rows, count, isCut } = value;
    if (count === 0) return;
    const page: Page = { last: null };
    yield readingLast(rows, page);
    if (page.last === null || (!isCut && count < pageEntries)) return;
    start = { position: positionOf(page.last), newestId };
    // The store sorts in vain what does not fit into a page.
    pageEntries = isCut ? count : Math.min(EXPORT_PAGE_ENTRIES, pageEntries * 2);
  }
}

interface Page {
  last: Row | null;
}

function* readingLast(rows: Iterable<Row>, page: Page): Generator<Row> {
  for (const row of rows) {
    page.last = row;
    yield row;
  }
}

/** What is newer came after the export began. */
async function readNewestId(
  { ranges, budget, now }: RangeDependencies,
  caller: QueryCaller,
): Promise<bigint> {
  const presentId = (BigInt(Math.trunc(now()) - LOG_ID_EPOCH_MS + 1) << LOG_ID_BITS_BELOW_MS) - 1n;
  const plan = newestIdPlan(presentId);
  const statement = { operation: "newest_id", plan, timeRange: ALL_TIME, maxRows: 1, budget };
  const { value } = await ranges.read(caller, (logs) => logs.runHot(statement));
  const cell = value.rows[0]?.[0];
  return typeof cell === "string" ? BigInt(cell) : presentId;
}
