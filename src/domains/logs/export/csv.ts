import { csvRecord } from "../../../http/csv.ts";
import { ENTRY_COLUMNS, encodeAttributes } from "../entry-json.ts";
import { formatNs } from "../entry-time.ts";

/** The names of the columns: the fields of an entry, its attributes as JSON in one of them. */
export const CSV_HEADER = csvRecord(ENTRY_COLUMNS);

/** One row in the wire formats of `ENTRY_COLUMNS` as a line. */
export function csvLine(row: readonly unknown[]): string {
  return csvRecord(
    ENTRY_COLUMNS.map((name, i) => {
      if (name === "attrs") return encodeAttributes(row[i]);
      const text = String(row[i] ?? "");
      return name === "ts" || name === "receivedAt" ? formatNs(text) : text;
    }),
  );
}
