import type { Sql, TransactionSql } from "postgres";

/**
 * The time `ms` from now by the clock of the database, the only one that instances share: who holds what until when is
 * decided by it, however much their own clocks differ.
 */
export function fromNow(sql: Sql | TransactionSql, ms: number): ReturnType<Sql> {
  return sql`now() + ${ms}::double precision * interval '1 millisecond'`;
}
