import type { ByteBuffer } from "./byte-buffer.ts";
import type { Column } from "./column.ts";

/**
 * Appends one block in ClickHouse's Native format, as `INSERT ... FORMAT Native` reads it over HTTP (no block info):
 * the numbers of columns and rows, then every column. Any number of blocks may follow one another.
 * Throws when the columns are not equally long: that is a bug of the caller.
 */
export function writeBlock(
  out: ByteBuffer,
  columns: ReadonlyArray<readonly [name: string, column: Column]>,
): void {
  const rows = columns[0]?.[1].rows ?? 0;
  out.writeVarUint(columns.length);
  out.writeVarUint(rows);
  for (const [name, column] of columns) {
    if (column.rows !== rows) throw new Error(`column ${name} has ${column.rows} rows, the block ${rows}`);
    out.writeString(name);
    out.writeString(column.type);
    if (rows === 0) continue;
    column.writePrefix(out);
    column.writeData(out);
  }
}
