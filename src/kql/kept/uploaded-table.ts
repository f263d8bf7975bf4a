import type { KeptColumn, ScalarType } from "../../../query/index.ts";
import { ThreadSlice } from "../../concurrency/thread-turns.ts";
import { cellText, TypeGuess } from "./cell-text.ts";
import { delimitedRows, FileProblem } from "./delimited-rows.ts";
import { CELL_MAX_CHARS, COLUMN_NAME_MAX_CHARS, TABLE_MAX_COLUMNS, TABLE_MAX_ROWS } from "./limits.ts";

interface TableContent {
  readonly columns: readonly KeptColumn[];
  /** The cells of each row as the log store keeps them. */
  readonly rows: readonly (readonly string[])[];
}

/**
 * The table in a CSV file whose first line holds the names of its columns. Types that are not given are those that every
 * value of a column has. Throws FileProblem for a file that is no such table, a type for a column that it has not, and a
 * value that is not of its column's type.
 */
export async function readUploadedTable(
  text: string,
  given: ReadonlyMap<string, ScalarType>,
): Promise<TableContent> {
  const [header, ...records] = await delimitedRows(text, {
    delimiter: ",",
    isLenient: false,
    maxRows: TABLE_MAX_ROWS + 1,
  });
  const names = checkedNames(header);
  const missing = [...given.keys()].find((name) => !names.includes(name));
  if (missing !== undefined)
    throw new FileProblem(`The file has no column ${missing}; its columns are ${names.join(", ")}.`);
  const columns = await columnsOf(names, records, given);
  return { columns, rows: await cellsOf(columns, records) };
}

function checkedNames(header: readonly string[] | undefined): string[] {
  if (header === undefined)
    throw new FileProblem("The file is empty; its first line holds the names of the columns.");
  const names = header.map((name) => name.trim());
  if (names.length > TABLE_MAX_COLUMNS)
    throw new FileProblem(`The file has ${names.length} columns; ${TABLE_MAX_COLUMNS} is the most.`);
  for (const [i, name] of names.entries()) {
    if (name === "") throw new FileProblem(`Column ${i + 1} has no name in the first line.`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no name has.
    if (name.length > COLUMN_NAME_MAX_CHARS || /[\u0000-\u001f]/.test(name))
      throw new FileProblem(
        `The name of column ${i + 1} is longer than ${COLUMN_NAME_MAX_CHARS} characters, or no text.`,
      );
    if (names.indexOf(name) < i) throw new FileProblem(`Two columns are called ${name}.`);
  }
  return names;
}

async function columnsOf(
  names: readonly string[],
  records: readonly (readonly string[])[],
  given: ReadonlyMap<string, ScalarType>,
): Promise<KeptColumn[]> {
  const guesses = names.map((name) => ({ name, type: given.get(name), guess: new TypeGuess() }));
  const open = guesses.flatMap(({ type, guess }, i) => (type === undefined ? [{ i, guess }] : []));
  const slice = new ThreadSlice();
  for (const record of records) {
    for (const { i, guess } of open) guess.add(record[i] ?? "");
    if (slice.isOver) await slice.yield();
  }
  return guesses.map(({ name, type, guess }) => ({ name, type: type ?? guess.type }));
}

async function cellsOf(
  columns: readonly KeptColumn[],
  records: readonly (readonly string[])[],
): Promise<string[][]> {
  const slice = new ThreadSlice();
  const rows: string[][] = [];
  for (const [at, record] of records.entries()) {
    rows.push(columns.map(({ name, type }, i) => checkedCell(record[i] ?? "", { name, type, row: at + 1 })));
    if (slice.isOver) await slice.yield();
  }
  return rows;
}

/** Characters of a value that a message repeats. */
const EXCERPT_MAX_CHARS = 60;

function checkedCell(
  text: string,
  { name, type, row }: { readonly name: string; readonly type: ScalarType; readonly row: number },
): string {
  if (text.length > CELL_MAX_CHARS)
    throw new FileProblem(`Row ${row}, column ${name}: a value has at most ${CELL_MAX_CHARS} characters.`);
  const cell = cellText(text, type);
  if (cell !== null) return cell;
  const excerpt = text.length > EXCERPT_MAX_CHARS ? `${text.slice(0, EXCERPT_MAX_CHARS)}...` : text;
  throw new FileProblem(`Row ${row}, column ${name}: ${JSON.stringify(excerpt)} is no ${type}.`);
}
