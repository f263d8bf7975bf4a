import type { StoredRow } from "../../../audit/audit-rows.ts";
import { canonicalJson, type JsonValue } from "../../../audit/canonical-json.ts";
import type { ChainedRow } from "../../../audit/chain.ts";
import { csvRecord } from "../../../http/csv.ts";

/** A row as a list shows it. */
type PublicRow = Omit<ChainedRow, "organizationId" | "seq">;

export function publicRow({ row }: StoredRow): PublicRow {
  const { organizationId: _, seq: __, ...shown } = row;
  return shown;
}

/**
 * A row as an export shows it: canonical JSON without `hash` is what was hashed, after the hash of the row before.
 */
export function exportedLine({ row, hash }: StoredRow): string {
  return `${canonicalJson({ ...row, hash: Buffer.from(hash).toString("hex") })}\n`;
}

const PUBLIC_COLUMNS = [
  "id",
  "createdAt",
  "actorUserId",
  "actorPatId",
  "actorEmail",
  "action",
  "resource",
  "meta",
] as const satisfies readonly (keyof PublicRow)[];

export const LIST_CSV_HEADER = csvRecord(PUBLIC_COLUMNS);
export const EXPORT_CSV_HEADER = csvRecord([...PUBLIC_COLUMNS, "seq", "hash"]);

export function listCsvLine({ row }: StoredRow): string {
  return csvRecord(publicCells(row));
}

export function exportCsvLine({ row, hash }: StoredRow): string {
  return csvRecord([...publicCells(row), String(row.seq), Buffer.from(hash).toString("hex")]);
}

function publicCells(row: ChainedRow): string[] {
  return PUBLIC_COLUMNS.map((name) => inertCell(row[name]));
}

/**
 * A text that spreadsheets take for a formula gets an apostrophe in front, which they take for "this is text": what is
 * in an audit log was in part chosen by the people it is about.
 */
function inertCell(value: JsonValue): string {
  if (value === null) return "";
  const text = typeof value === "string" ? value : canonicalJson(value);
  return /^(?:\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/.test(text) ? `'${text}` : text;
}
