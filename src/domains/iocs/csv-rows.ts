import { FILE_MAX_ROWS } from "../../entities/indicators/limits.ts";
import { delimitedPieces } from "../../kql/kept/delimited-rows.ts";
import type { FileRow } from "./file-row.ts";

const COLUMNS: Readonly<Record<string, keyof FileRow>> = {
  ...{ type: "type", indicator_type: "type", ioc_type: "type", kind: "type" },
  ...{
    value: "value",
    indicator: "value",
    ioc: "value",
    ioc_value: "value",
    ip: "value",
    domain: "value",
    hash: "value",
  },
  ...{ severity: "severity", description: "description", comment: "description" },
  ...{ expiresat: "expiresAt", expires_at: "expiresAt", valid_until: "expiresAt" },
  ...{ confidence: "confidence", source: "source" },
};
type Columns = readonly (keyof FileRow | undefined)[];
const UNNAMED: Columns = ["value", "type"];
/** Bytes of which the text is made at once. */
const SLICE_BYTES = 65_536;

/** The first row names the columns where it has one that is called as a value may be; else the first cell is the value. */
export async function* csvRows(file: Uint8Array): AsyncGenerator<readonly FileRow[], undefined> {
  let columns: Columns | null = null;
  let rows = 0;
  const options = { delimiter: ",", isLenient: true, maxRows: FILE_MAX_ROWS + 1 } as const;
  for await (const some of delimitedPieces(textSlices(file), options)) {
    const made: FileRow[] = [];
    for (const cells of some) {
      rows++;
      if ((cells[0] ?? "").trim().startsWith("#")) continue;
      if (columns === null) {
        const header = cells.map((name) => COLUMNS[name.trim().toLowerCase()]);
        const isNamed = header.includes("value");
        columns = isNamed ? header : UNNAMED;
        if (isNamed) continue;
      }
      made.push(rowOf(cells, columns, rows));
    }
    yield made;
  }
}

function rowOf(cells: readonly string[], columns: Columns, number: number): FileRow {
  const said: Partial<Record<keyof FileRow, string>> = {};
  for (const [i, column] of columns.entries()) {
    const cell = cells[i]?.trim() ?? "";
    if (column !== undefined && cell !== "") said[column] = cell;
  }
  return { ...said, place: `row ${number}`, type: said.type ?? "", value: said.value ?? "" };
}

function* textSlices(file: Uint8Array): Generator<string, undefined> {
  const decoder = new TextDecoder();
  for (let at = 0; at < file.byteLength; at += SLICE_BYTES)
    yield decoder.decode(file.subarray(at, at + SLICE_BYTES), { stream: true });
  yield decoder.decode();
}
