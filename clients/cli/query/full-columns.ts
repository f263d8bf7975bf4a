import type { QueryAnswer } from "./answer.ts";

type Rows = Pick<QueryAnswer, "columns" | "rows">;

/** The answer without the columns that say nothing in any row, and their names. One column is left in any case. */
export function fullColumns({ columns, rows }: Rows): { answer: Rows; leftOut: readonly string[] } {
  const isFull = columns.map((_, index) => rows.some((row) => !isEmpty(row[index])));
  if (rows.length === 0 || !isFull.includes(true)) return { answer: { columns, rows }, leftOut: [] };
  const answer = {
    columns: columns.filter((_, index) => isFull[index] === true),
    rows: rows.map((row) => row.filter((_, index) => isFull[index] === true)),
  };
  return { answer, leftOut: columns.flatMap(({ name }, index) => (isFull[index] === true ? [] : [name])) };
}

function isEmpty(cell: unknown): boolean {
  if (cell === null || cell === undefined || cell === "") return true;
  return typeof cell === "object" && !Array.isArray(cell) && JSON.stringify(cell) === "{}";
}
