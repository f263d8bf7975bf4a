import { isRecord, type JsonRecord, parseJsonExactly } from "../../api/json.ts";
import { foreignAnswer } from "../failures.ts";
import { archiveInWords, noticesOf } from "../search/answer-notices.ts";

/** How the query asks to be drawn. */
export interface RenderHint {
  readonly chart: string;
  readonly properties: JsonRecord;
}

/** The answer to a query. Cells are JSON values, numbers with every digit as `parseJsonExactly` keeps them. */
export interface QueryAnswer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
  readonly isTruncated: boolean;
  readonly stats: { readonly rowsRead: number; readonly bytesRead: number; readonly elapsedMs: number };
  /** What of the archive was looked into, in words; empty for nothing. */
  readonly archive: string;
  readonly render: RenderHint | null;
  /** What the answer warns of: that something is missing. */
  readonly notices: readonly string[];
}

/** Throws CliError when the text is no answer to a query. */
export function decodeAnswer(text: string, baseUrl: string): QueryAnswer {
  const body = parseJsonExactly(text);
  if (!isRecord(body) || !Array.isArray(body.columns) || !Array.isArray(body.rows))
    throw foreignAnswer(baseUrl, "a query");
  const columns = body.columns.map((column: unknown) => {
    if (!isRecord(column) || typeof column.name !== "string" || typeof column.type !== "string")
      throw foreignAnswer(baseUrl, "a query");
    return { name: column.name, type: column.type };
  });
  const rows = body.rows.map((row: unknown): readonly unknown[] => {
    if (!Array.isArray(row) || row.length !== columns.length) throw foreignAnswer(baseUrl, "a query");
    return row;
  });
  return {
    columns,
    rows,
    isTruncated: body.truncated === true,
    stats: decodeStats(body.stats),
    archive: archiveInWords(body.stats),
    render: decodeRender(body.render),
    notices: noticesOf(body),
  };
}

/** The text of a cell: a text as it is, null as nothing, anything else as JSON. */
export function cellText(cell: unknown): string {
  if (typeof cell === "string") return cell;
  return cell === null ? "" : JSON.stringify(cell);
}

/** The number of a cell, null when it holds none. */
export function cellNumber(cell: unknown): number | null {
  if (cell === null || cell === "" || typeof cell === "boolean" || Array.isArray(cell)) return null;
  const number = Number(cellText(cell));
  return Number.isFinite(number) ? number : null;
}

function decodeStats(stats: unknown): QueryAnswer["stats"] {
  const read = (name: string): number => {
    const value = isRecord(stats) ? cellNumber(stats[name] ?? null) : null;
    return value ?? 0;
  };
  return { rowsRead: read("rowsRead"), bytesRead: read("bytesRead"), elapsedMs: read("elapsedMs") };
}

function decodeRender(render: unknown): RenderHint | null {
  if (!isRecord(render) || typeof render.chart !== "string") return null;
  return { chart: render.chart, properties: isRecord(render.properties) ? render.properties : {} };
}
