import { CELL_PADDED_MAX_COLUMNS, CELL_SHRUNK_MIN_COLUMNS } from "../limits.ts";
import type { Colors } from "./colors.ts";
import { cutToWidth, padToWidth, textWidth } from "./text-width.ts";

export interface TableColumn {
  readonly header: string;
  /** Numbers stand on the right. */
  readonly align: "left" | "right";
  /** A column that makes no sense in parts, such as a number or a time, is never cut. */
  readonly isRigid: boolean;
}

/** Cells are texts without control characters, as many in each row as there are columns. */
export interface Table {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly string[])[];
}

const GAP = "  ";

/**
 * The lines of a table of at most `maxWidth` columns: long texts end in an ellipsis, the longest give way first. Where the columns do
 * not fit side by side, each row becomes a block of lines, one for each column. Without a `maxWidth` nothing is cut.
 *
 * Not cli-table3: it fits nothing to a terminal, takes seconds for 10 000 rows, and cuts long cells in quadratic time.
 */
export function formatTable(table: Table, maxWidth: number | null, colors: Colors): string[] {
  const natural = table.columns.map(({ header }, index) =>
    table.rows.reduce((width, row) => Math.max(width, textWidth(row[index] ?? "")), textWidth(header)),
  );
  if (maxWidth === null) {
    const padded = natural.map((width) => Math.min(width, CELL_PADDED_MAX_COLUMNS));
    return formatRows(table, padded, Number.POSITIVE_INFINITY, colors);
  }
  const widths = fitWidths(natural, table.columns, maxWidth - GAP.length * (natural.length - 1));
  return widths === null ? formatBlocks(table, maxWidth, colors) : formatRows(table, widths, 0, colors);
}

/**
 * Widths of together at most `available`; null when the columns that cannot be cut, and the least of the others, do not fit.
 * The columns that shrink share what is left evenly, and one that needs less leaves the rest to the others.
 */
function fitWidths(
  natural: readonly number[],
  columns: readonly Pick<TableColumn, "isRigid">[],
  available: number,
): number[] | null {
  const least = natural.map((width, index) =>
    columns[index]?.isRigid === true ? width : Math.min(width, CELL_SHRUNK_MIN_COLUMNS),
  );
  if (sum(least) > available) return null;
  const widths = [...least];
  const byNeed = natural.map((_, index) => index).toSorted((a, b) => (natural[a] ?? 0) - (natural[b] ?? 0));
  // From the smallest need to the largest: each gets an even share of what those not served yet can have.
  let left = available;
  const rest = byNeed.filter((index) => {
    const isRigid = columns[index]?.isRigid === true;
    if (isRigid) left -= natural[index] ?? 0;
    return !isRigid;
  });
  for (const [served, index] of rest.entries()) {
    const share = Math.floor(left / (rest.length - served));
    const width = Math.min(natural[index] ?? 0, share);
    widths[index] = width;
    left -= width;
  }
  return widths;
}

/** `overflow` is how much a cell may be longer than its column. */
function formatRows(
  { columns, rows }: Table,
  widths: readonly number[],
  overflow: number,
  colors: Colors,
): string[] {
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        return padToWidth(cutToWidth(cell, width + overflow), width, columns[index]?.align ?? "left");
      })
      .join(GAP)
      .trimEnd();
  return [colors.bold(line(columns.map(({ header }) => header))), ...rows.map(line)];
}

function formatBlocks({ columns, rows }: Table, maxWidth: number, colors: Colors): string[] {
  const widest = columns.reduce((width, { header }) => Math.max(width, textWidth(header)), 0);
  const nameWidth = Math.min(widest, Math.max(1, Math.floor(maxWidth / 3)));
  const valueWidth = Math.max(1, maxWidth - nameWidth - GAP.length);
  return rows.flatMap((row, number) => [
    colors.dim(cutToWidth(`-- ${number + 1} --`, maxWidth)),
    ...columns.map(({ header }, index) => {
      const name = padToWidth(cutToWidth(header, nameWidth), nameWidth, "left");
      return `${colors.bold(name)}${GAP}${cutToWidth(row[index] ?? "", valueWidth)}`.trimEnd();
    }),
  ]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
