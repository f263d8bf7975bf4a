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

/** All that `delimitedPieces` reads of a text. */
export async function delimitedRows(text: string, options: DelimitedOptions): Promise<string[][]> {
  const rows: string[][] = [];
  for await (const some of delimitedPieces(slicesOf(text), options)) for (const row of some) rows.push(row);
  return rows;
}

function* slicesOf(text: string): Generator<string, undefined> {
  for (let at = 0; at < text.length; at += SLICE_CHARS) yield text.slice(at, at + SLICE_CHARS);
}

/**
 * The cells of a text as RFC 4180 has it, the rows of a slice at a time, between which others have the thread. Empty lines are no
 * rows. Throws FileProblem.
 */
export async function* delimitedPieces(
  slices: Iterable<string>,
  { delimiter, isLenient, maxRows }: DelimitedOptions,
): AsyncGenerator<readonly string[][], undefined> {
  const { CsvError, parse } = await import("csv-parse");
  let rows = 0;
  const parser = parse({
    bom: true,
    delimiter,
    // A quote inside a cell of a file with tabs is a character like any other.
    quote: delimiter === "," ? '"' : null,
    relax_column_count: isLenient,
    skip_empty_lines: true,
    max_record_size: 16 * CELL_MAX_CHARS,
  });
  const take = (row: unknown): string[] => {
    if (!isRow(row)) throw new TypeError("a row is no list of texts");
    if (rows >= maxRows) throw new FileProblem(`The file has more than ${maxRows} rows.`);
    rows++;
    return row;
  };
  // Thrown below, where somebody waits.
  parser.on("error", () => undefined);
  const slice = new ThreadSlice();
  try {
    for (const text of slices) {
      if (parser.errored !== null) break;
      parser.write(text);
      const some: string[][] = [];
      for (let row: unknown = parser.read(); row !== null; row = parser.read()) some.push(take(row));
      yield some;
      if (slice.isOver) await slice.yield();
    }
    if (parser.errored === null) parser.end();
    const last: string[][] = [];
    for await (const row of parser) last.push(take(row));
    yield last;
  } catch (error) {
    throw error instanceof CsvError ? new FileProblem(`The file is no table: ${error.message}.`) : error;
  } finally {
    parser.destroy();
  }
}

function isRow(row: unknown): row is string[] {
  return Array.isArray(row) && row.every((cell) => typeof cell === "string");
}
