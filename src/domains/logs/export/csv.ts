import { ENTRY_COLUMNS, encodeAttributes } from "../entry-json.ts";
import { formatNs } from "../entry-time.ts";

/** The names of the columns: the fields of an entry, its attributes as JSON in one of them. */
export const CSV_HEADER = `${ENTRY_COLUMNS.join(",")}\r\n`;

/**
 * One row in the wire formats of `ENTRY_COLUMNS` as a line per RFC 4180. Values stand as they are, so a spreadsheet may
 * take one that begins with `=`, `+`, `-` or `@` for a formula: the route's documentation says so.
 */
export function csvLine(row: readonly unknown[]): string {
  const cells = ENTRY_COLUMNS.map((name, i) => {
    if (name === "attrs") return encodeAttributes(row[i]);
    const text = String(row[i] ?? "");
    return name === "ts" || name === "receivedAt" ? formatNs(text) : text;
  });
  return `${cells.map(quoted).join(",")}\r\n`;
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
