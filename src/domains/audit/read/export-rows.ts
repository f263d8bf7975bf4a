import type { Sql } from "postgres";
import { readAudit, type StoredRow } from "../../../audit/audit-rows.ts";
import { EXPORT_MAX_MS, EXPORT_PAGE_ROWS } from "../../../audit/limits.ts";
import { pagedDownload } from "../../../http/paged-download.ts";
import type { AuthenticatedContext } from "../../../http/route.ts";
import { auditFilterOf } from "./audit-filter.ts";
import { findPlaces, findRows } from "./audit-store.ts";
import { EXPORT_CSV_HEADER, exportCsvLine, exportedLine } from "./row-formats.ts";
import type { ExportParameters } from "./types.ts";

const FORMATS = {
  ndjson: { header: "", line: exportedLine, type: "application/x-ndjson" },
  csv: { header: EXPORT_CSV_HEADER, line: exportCsvLine, type: "text/csv; charset=utf-8; header=present" },
} as const;

/**
 * Everything that matches and was there at the beginning, oldest first, page by page as the client takes it, so that
 * no transaction waits for a client.
 */
export function exportRows(
  sql: Sql,
  { principal, answerMemory: memory }: Pick<AuthenticatedContext, "principal" | "answerMemory">,
  { format = "ndjson", ...parameters }: ExportParameters,
): Promise<Response> {
  const { header, line, type } = FORMATS[format];
  return pagedDownload({
    pages: exportPages(sql, principal.organizationId, parameters),
    line,
    header,
    contentType: type,
    fileName: `audit-logs.${format}`,
    memory,
    maxMs: EXPORT_MAX_MS,
  });
}

/** Pages of rows in the order of the chain; none is empty. */
async function* exportPages(
  sql: Sql,
  organizationId: number,
  parameters: Omit<ExportParameters, "format">,
): AsyncGenerator<readonly StoredRow[], undefined> {
  const filter = auditFilterOf(parameters);
  let places = await readAudit(sql, organizationId, (tx) => findPlaces(tx, organizationId, filter));
  while (places !== null && places.lowest <= places.highest) {
    const page = places;
    const order = { newestFirst: false, limit: EXPORT_PAGE_ROWS };
    const rows = await readAudit(sql, organizationId, (tx) =>
      findRows(tx, organizationId, filter, page, order),
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < EXPORT_PAGE_ROWS) return;
    places = { lowest: last.row.seq + 1, highest: page.highest };
  }
}
