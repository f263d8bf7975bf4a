import type { Fragment, Sql, TransactionSql } from "postgres";
import { fromNow } from "../../storage/database-clock.ts";
import { type Claim, LeasedRows } from "./leased-rows.ts";

interface QueueColumns {
  readonly table: string;
  readonly key: string;
  readonly claim: string;
  /** When the row is due, and while it is held until when it is. */
  readonly due: string;
  /** How often the row was taken, by now or since it last came on; one who dies of it has taken it too. */
  readonly attempts: string;
}

/** Which of the due rows are taken. */
interface Taking {
  /** Another condition than that they are due. */
  readonly where: Fragment;
  readonly order: Fragment;
  readonly max: number;
  readonly leaseMs: number;
  /** What is read of them. */
  readonly columns: Fragment;
}

/** A table of work: whatever is due is taken by one instance at a time, and by another when that one dies. */
export class WorkQueue extends LeasedRows {
  readonly #queue: QueueColumns;

  constructor(queue: QueueColumns) {
    super({ table: queue.table, claim: queue.claim, until: queue.due });
    this.#queue = queue;
  }

  /** Takes due rows, past those that another one is taking just now, under a new claim or one that has some already. */
  take<Row extends object>(
    sql: Sql,
    { where, order, max, leaseMs, columns }: Taking,
    claim: string = crypto.randomUUID(),
  ): Promise<(Row & { readonly claim: string })[]> {
    const { table, key, due, attempts } = this.#queue;
    // Materialized, for a plan may ask the question several times, and each time other rows are not locked yet.
    return sql<(Row & { claim: string })[]>`
      WITH due AS MATERIALIZED (
        SELECT ${sql(key)} FROM ${sql(table)} WHERE ${sql(due)} <= now() AND ${where}
        ORDER BY ${order} LIMIT ${max} FOR UPDATE SKIP LOCKED
      ), taken AS (
        UPDATE ${sql(table)}
        SET ${sql(this.#queue.claim)} = ${claim}, ${sql(due)} = ${fromNow(sql, leaseMs)},
            ${sql(attempts)} = ${sql(attempts)} + 1
        WHERE ${sql(key)} IN (SELECT ${sql(key)} FROM due)
        RETURNING *
      )
      SELECT ${columns}, ${claim} AS claim FROM taken ORDER BY ${sql(key)}`;
  }

  /** Gives rows back whose attempt failed, due again after `delayMs`. */
  postpone(sql: Sql | TransactionSql, claim: Claim, delayMs: number): Promise<boolean> {
    return this.#putBack(sql, claim, delayMs, 0);
  }

  /** Gives rows back whose attempt does not count, due again after `delayMs`. */
  giveBack(sql: Sql | TransactionSql, claim: Claim, delayMs = 0): Promise<boolean> {
    return this.#putBack(sql, claim, delayMs, 1);
  }

  async #putBack(
    sql: Sql | TransactionSql,
    claim: Claim,
    delayMs: number,
    uncounted: number,
  ): Promise<boolean> {
    const { table, due, attempts } = this.#queue;
    const { count } = await sql`
      UPDATE ${sql(table)}
      SET ${this.freed(sql)}, ${sql(due)} = ${fromNow(sql, delayMs)},
          ${sql(attempts)} = ${sql(attempts)} - ${uncounted}::integer
      WHERE ${this.held(sql, claim)}`;
    return count > 0;
  }
}
