import { LOG_ID_EPOCH_MS } from "../../../../ingest/index.ts";
import { ALL_TIME } from "../../../../query/index.ts";
import { pagedDownload } from "../../../http/paged-download.ts";
import { encodeEntry, positionOf } from "../entry-json.ts";
import { EXPORT_MAX_MS, EXPORT_PAGE_ENTRIES } from "../limits.ts";
import { type ReadContext, type ReadDependencies, readLogs } from "../read-logs.ts";
import { newestIdPlan, type PageStart, pagePlan } from "../search-plans.ts";
import { readSelection } from "../selection.ts";
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
export function exportLogs(
  deps: ReadDependencies,
  context: ReadContext,
  { format = "ndjson", ...parameters }: ExportParameters,
): Promise<Response> {
  const { header, line, type } = FORMATS[format];
  return pagedDownload({
    pages: exportPages(deps, context, readSelection(parameters, deps.now())),
    textOf: (page: Rows) => page.map(line).join(""),
    header,
    contentType: type,
    fileName: `logs.${format}`,
    now: deps.now,
    maxMs: EXPORT_MAX_MS,
  });
}

type Rows = readonly (readonly unknown[])[];

/** Pages of rows; none is empty. */
async function* exportPages(
  deps: ReadDependencies,
  context: ReadContext,
  { filter, timeRange }: LogSelection,
): AsyncGenerator<Rows, undefined> {
  const newestId = await readNewestId(deps, context);
  let start: PageStart | null = null;
  for (;;) {
    const plan = pagePlan(filter, start, EXPORT_PAGE_ENTRIES, newestId);
    const { rows } = await readLogs(deps, context, {
      operation: "export",
      plan,
      timeRange,
      maxRows: EXPORT_PAGE_ENTRIES,
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < EXPORT_PAGE_ENTRIES) return;
    start = { position: positionOf(last), newestId };
  }
}

/** What is newer came after the export began. */
async function readNewestId(deps: ReadDependencies, context: ReadContext): Promise<bigint> {
  const presentId = (BigInt(Math.trunc(deps.now()) - LOG_ID_EPOCH_MS + 1) << LOG_ID_BITS_BELOW_MS) - 1n;
  const plan = newestIdPlan(presentId);
  const { rows } = await readLogs(deps, context, {
    operation: "newest_id",
    plan,
    timeRange: ALL_TIME,
    maxRows: 1,
  });
  const cell = rows[0]?.[0];
  return typeof cell === "string" ? BigInt(cell) : presentId;
}
