import type { Sql } from "postgres";
import { ApiError } from "../../errors.ts";
import { readAudit, type StoredRow } from "../audit-rows.ts";
import { EXPORT_MAX_MS, EXPORT_PAGE_ROWS } from "../limits.ts";
import { auditFilterOf } from "./audit-filter.ts";
import { findPlaces, findRows } from "./audit-store.ts";
import { EXPORT_CSV_HEADER, exportCsvLine, exportedLine } from "./row-formats.ts";
import type { ExportParameters } from "./types.ts";

export interface ExportDependencies {
  readonly sql: Sql;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const FORMATS = {
  ndjson: { header: "", line: exportedLine, type: "application/x-ndjson" },
  csv: { header: EXPORT_CSV_HEADER, line: exportCsvLine, type: "text/csv; charset=utf-8; header=present" },
} as const;

/**
 * Everything that matches and was there at the beginning, oldest first, page by page as the client takes it, so that
 * no transaction waits for a client. The first page is read before the answer begins; a failure after that breaks the
 * connection, and the file is seen to be incomplete.
 */
export async function exportRows(
  deps: ExportDependencies,
  organizationId: number,
  { format = "ndjson", ...parameters }: ExportParameters,
): Promise<Response> {
  const { header, line, type } = FORMATS[format];
  const deadlineMs = deps.now() + EXPORT_MAX_MS;
  const pages = exportPages(deps.sql, organizationId, parameters);
  const textOf = (page: IteratorResult<readonly StoredRow[]>): string =>
    page.done === true ? "" : page.value.map(line).join("");
  const encoder = new TextEncoder();
  let pending: string | null = header + textOf(await pages.next());
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (deps.now() > deadlineMs) throw new ApiError("QUERY_TIMEOUT", "The export took too long.");
        if (pending !== null && pending !== "") {
          controller.enqueue(encoder.encode(pending));
          pending = null;
          return;
        }
        const page = await pages.next();
        if (page.done === true) controller.close();
        else controller.enqueue(encoder.encode(textOf(page)));
      },
      cancel: async () => {
        await pages.return(undefined);
      },
    },
    // Nothing is read ahead of the client.
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": type,
      "content-disposition": `attachment; filename="audit-logs.${format}"`,
      "cache-control": "no-store",
    },
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
