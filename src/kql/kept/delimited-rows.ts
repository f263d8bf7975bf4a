import { CsvError, parse } from "csv-parse";
import { ThreadSlice } from "../../concurrency/thread-turns.ts";
import { CELL_MAX_CHARS } from "./limits.ts";

/** A file is not what it should be; the message says where, for whoever sent it. */
export class FileProblem extends Error {}

interface DelimitedOptions {
  readonly delimiter: "," | "\t";
  /** Whether a row may have more or fewer cells than the first. */
  readonly isLenient: boolean;
  /** Rows after which the file is refused. */
  readonly maxRows: number;
}

/** Characters that are parsed at once. */
const SLICE_CHARS = 65_536;

/**
 * The cells of a text as RFC 4180 has it, a row after the other, read in slices between which others have the thread. Empty
 * lines are no rows. Throws FileProblem.
 */
export async function delimitedRows(
  text: string,
  { delimiter, isLenient, maxRows }: DelimitedOptions,
): Promise<string[][]> {
  const rows: string[][] = [];
  const parser = parse({
    bom: true,
    delimiter,
    // A quote inside a cell of a file with tabs is a character like any other.
    quote: delimiter === "," ? '"' : null,
    relax_column_count: isLenient,
    skip_empty_lines: true,
    max_record_size: 16 * CELL_MAX_CHARS,
  });
  const add = (row: unknown): void => {
    if (!isRow(row)) throw new TypeError("a row is no list of texts");
    if (rows.length >= maxRows) throw new FileProblem(`The file has more than ${maxRows} rows.`);
    rows.push(row);
  };
  // Thrown below, where somebody waits.
  parser.on("error", () => undefined);
  const slice = new ThreadSlice();
  try {
    for (let at = 0; at < text.length && parser.errored === null; at += SLICE_CHARS) {
      parser.write(text.slice(at, at + SLICE_CHARS));
      for (let row: unknown = parser.read(); row !== null; row = parser.read()) add(row);
      if (slice.isOver) await slice.yield();
    }
    if (parser.errored === null) parser.end();
    for await (const row of parser) add(row);
  } catch (error) {
    parser.destroy();
    throw error instanceof CsvError ? new FileProblem(`The file is no table: ${error.message}.`) : error;
  }
  return rows;
}

function isRow(row: unknown): row is string[] {
  return Array.isArray(row) && row.every((cell) => typeof cell === "string");
}
