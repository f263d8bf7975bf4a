import type { PendingQuery, Row, TransactionSql } from "postgres";
import { EXPORT_FETCH_ROWS } from "./limits.ts";

/** Types of Postgres that its client does not turn into what they are in JSON. */
const BIGINT = 20;
const DATE = 1082;

/**
 * The rows of a query through a cursor, some hundred at a time, with the names and forms that the API has:
 * `created_at` is `createdAt`, times are in ISO 8601, numbers are numbers. One query at a time in a transaction.
 */
export async function* tableRows(
  tx: TransactionSql,
  query: PendingQuery<Row[]>,
): AsyncGenerator<Record<string, unknown>, void> {
  await tx`DECLARE exported NO SCROLL CURSOR FOR ${query}`;
  for (;;) {
    const rows = await tx.unsafe(`FETCH ${EXPORT_FETCH_ROWS} FROM exported`);
    const columns = rows.columns.map(({ name, type }) => ({ name, type, shown: camelCase(name) }));
    for (const row of rows)
      yield Object.fromEntries(columns.map(({ name, type, shown }) => [shown, shownValue(row[name], type)]));
    if (rows.length < EXPORT_FETCH_ROWS) break;
  }
  await tx`CLOSE exported`;
}

function shownValue(value: unknown, type: number): unknown {
  if (type === BIGINT && typeof value === "string") return Number(value);
  if (type === DATE && value instanceof Date) return value.toISOString().slice(0, "2026-01-01".length);
  return value;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
