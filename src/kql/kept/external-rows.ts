import type { ExternalSource, KeptColumn } from "../../../query/index.ts";
import { ThreadSlice } from "../../concurrency/thread-turns.ts";
import { cellText } from "./cell-text.ts";
import { delimitedRows, FileProblem } from "./delimited-rows.ts";
import { CELL_MAX_CHARS } from "./limits.ts";

type Declared = Pick<ExternalSource, "columns" | "format" | "ignoresFirstRecord">;

/**
 * The rows of a file elsewhere as its reader declared them: by their places, in JSON by their names. A value that is not of
 * its column's type is nothing, as in Kusto. Throws FileProblem.
 */
export async function externalRows(text: string, declared: Declared, maxRows: number): Promise<string[][]> {
  const { columns, format, ignoresFirstRecord } = declared;
  const rows: string[][] = [];
  const slice = new ThreadSlice();
  for (const record of await recordsOf(text, declared, maxRows + 1)) {
    rows.push(columns.map((column, i) => cellOf(record(column, i), column)));
    if (slice.isOver) await slice.yield();
  }
  const isTable = format === "csv" || format === "tsv" || format === "txt";
  return ignoresFirstRecord && isTable ? rows.slice(1) : rows;
}

/** What a record has for a column, or for its place: a text, or a value of JSON. */
type RecordReader = (column: KeptColumn, place: number) => unknown;

async function recordsOf(text: string, { format }: Declared, maxRows: number): Promise<RecordReader[]> {
  switch (format) {
    case "csv":
    case "tsv": {
      const delimiter = format === "csv" ? "," : "\t";
      const rows = await delimitedRows(text, { delimiter, isLenient: true, maxRows });
      return rows.map((row) => (_column, place) => row[place]);
    }
    case "txt":
      return bounded(linesOf(text), maxRows).map(
        (line) => (_column, place) => (place === 0 ? line : undefined),
      );
    case "json":
    case "multijson":
      return (await jsonRecords(text, maxRows)).map(
        (record) =>
          ({ name }) =>
            memberOf(record, name),
      );
  }
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line !== "");
}

function bounded<T>(rows: T[], maxRows: number): T[] {
  if (rows.length > maxRows) throw new FileProblem(`The file has more than ${maxRows} rows.`);
  return rows;
}

/** One value on each line; else the text is one value, an array of records or a single one. */
async function jsonRecords(text: string, maxRows: number): Promise<unknown[]> {
  const lines = bounded(linesOf(text), maxRows);
  const slice = new ThreadSlice();
  const records: unknown[] = [];
  for (const line of lines) {
    try {
      records.push(JSON.parse(line));
    } catch {
      return wholeJson(text, maxRows);
    }
    if (slice.isOver) await slice.yield();
  }
  const [first] = records;
  return records.length === 1 && Array.isArray(first) ? bounded(first, maxRows) : records;
}

function wholeJson(text: string, maxRows: number): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? bounded(value, maxRows) : [value];
  } catch (error) {
    if (error instanceof FileProblem) throw error;
    throw new FileProblem("The file is neither JSON nor a value of JSON on each line.");
  }
}

function memberOf(record: unknown, name: string): unknown {
  if (typeof record !== "object" || record === null || !Object.hasOwn(record, name)) return undefined;
  return Reflect.get(record, name);
}

function cellOf(value: unknown, { type }: KeptColumn): string {
  if (value === undefined || value === null) return "";
  if (type === "dynamic" && typeof value !== "string") return JSON.stringify(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length > CELL_MAX_CHARS)
    throw new FileProblem(`A value of the file has more than ${CELL_MAX_CHARS} characters.`);
  return cellText(text, type) ?? "";
}
