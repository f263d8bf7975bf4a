import type { Row, TransactionSql } from "postgres";

/**
 * Inserts rows by as few statements as there are sets of columns, and answers of each the columns asked for and its `id`, in their
 * order. The text of a statement is the same however many rows there are, so that each connection prepares few.
 */
export async function insertRows(
  tx: TransactionSql,
  table: string,
  rows: readonly object[],
  returning: readonly string[],
): Promise<Row[]> {
  const given = rows.map((row, place) => {
    const values = Object.entries(row).filter(([, value]) => value !== undefined);
    return { place, columns: values.map(([column]) => column).toSorted(), json: jsonRow(values) };
  });
  const made = new Array<Row>(rows.length);
  // A column that is not given is as the table has it by default, which no one statement says for some rows alone.
  for (const alike of Map.groupBy(given, ({ columns }) => columns.join()).values()) {
    const columns = alike[0]?.columns ?? [];
    const inserted = await tx`
      INSERT INTO ${tx(table)} (${tx(columns)})
      SELECT ${tx(columns.map((column) => `given.${column}`))}
      FROM unnest(${alike.map(({ json }) => json)}::text[]) WITH ORDINALITY AS row (json, place),
           jsonb_populate_record(NULL::${tx(table)}, row.json::jsonb) AS given
      ORDER BY row.place
      RETURNING ${tx(["id", ...returning.filter((column) => column !== "id")])}`;
    // Ids are given out in the order of the rows; in which order they come back nobody promises.
    const inOrder = inserted.toSorted((left, right) => Number(left.id) - Number(right.id));
    for (const [i, { place }] of alike.entries()) {
      const row = inOrder[i];
      if (row === undefined) throw new Error("an insert returned too few rows");
      made[place] = row;
    }
  }
  return made;
}

/** A row as JSON from which Postgres reads the columns by their types. */
function jsonRow(values: readonly (readonly [string, unknown])[]): string {
  const readable = values.map(([column, value]) => [
    column,
    value instanceof Uint8Array ? hexOf(value) : value,
  ]);
  return JSON.stringify(Object.fromEntries(readable));
}

/** As Postgres reads a bytea. */
function hexOf(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString("hex")}`;
}
