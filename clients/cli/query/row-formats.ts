import { escapeControlsInCell } from "../terminal/escape-controls.ts";
import type { Table } from "../terminal/table.ts";
import { cellText, type QueryAnswer } from "./answer.ts";

type Rows = Pick<QueryAnswer, "columns" | "rows">;

const NUMBER_TYPES = new Set(["int", "long", "real", "double", "decimal"]);
const RIGID_TYPES = new Set([...NUMBER_TYPES, "bool", "datetime", "timespan", "guid"]);

export function asTable({ columns, rows }: Rows): Table {
  return {
    columns: columns.map(({ name, type }) => ({
      header: escapeControlsInCell(name),
      align: NUMBER_TYPES.has(type) ? "right" : "left",
      isRigid: RIGID_TYPES.has(type),
    })),
    rows: rows.map((row) => row.map((cell) => escapeControlsInCell(cellText(cell)))),
  };
}

/** One JSON object for each row, with the members in the order of the columns and numbers with every digit. */
export function asJsonLines({ columns, rows }: Rows): string[] {
  const names = columns.map(({ name }) => JSON.stringify(name));
  return rows.map(
    (row) => `{${row.map((cell, index) => `${names[index]}:${JSON.stringify(cell)}`).join(",")}}`,
  );
}

/**
 * CSV of RFC 4180 with a header, lines without their CRLF. Null is an empty field, an empty text `""`; a null that stands
 * alone in its line is `""` too, because readers take an empty line for none.
 */
export function asCsvLines({ columns, rows }: Rows): string[] {
  if (columns.length === 0) return [];
  const line = (cells: readonly unknown[]): string => {
    const fields = cells.map((cell) => (cell === null ? "" : csvField(cellText(cell))));
    return fields.length === 1 && fields[0] === "" ? '""' : fields.join(",");
  };
  return [line(columns.map(({ name }) => name)), ...rows.map(line)];
}

function csvField(text: string): string {
  return text === "" || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
