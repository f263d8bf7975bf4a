import type { Fragment, ISql, Sql, TransactionSql } from "postgres";
import { fromNow } from "../../storage/database-clock.ts";
import type { Claimant } from "./claimant.ts";
import { countingDeaths } from "./deaths.ts";
import { type Claim, LeasedRows } from "./leased-rows.ts";

interface QueueColumns {
  readonly table: string;
  readonly key: string;
  readonly claim: string;
  /** When the row is due, and while it is held until when it is. */
  readonly due: string;
  /** How often the row was taken, by now or since it last came on; one who dies of it has taken it too. */
  readonly attempts: string;
  /**
   * A row whose holder died is at the same attempt still: its attempts are few, and nothing is known to have come of it. Its
   * claim says how many holders died of it one after the other, see `deathsOf`.
   */
  readonly forgivesDeath?: true;
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
    const { table, key, due, attempts, forgivesDeath } = this.#queue;
    const before = sql(this.#queue.claim);
    const more = forgivesDeath ? sql`(${before} IS NULL)::integer` : sql`1`;
    const made = forgivesDeath ? countingDeaths(sql, claim, before) : sql`${claim}`;
    // Materialized, for a plan may ask the question several times, and each time other rows are not locked yet.
    return sql<(Row & { claim: string })[]>`
      WITH due AS MATERIALIZED (
        SELECT ${sql(key)} FROM ${sql(table)} WHERE ${sql(due)} <= now() AND ${where}
        ORDER BY ${order} LIMIT ${max} FOR UPDATE SKIP LOCKED
      ), taken AS (
        UPDATE ${sql(table)}
        SET ${sql(this.#queue.claim)} = ${made}::uuid, ${sql(due)} = ${fromNow(sql, leaseMs)},
            ${sql(attempts)} = ${sql(attempts)} + ${more}
        WHERE ${sql(key)} IN (SELECT ${sql(key)} FROM due)
        RETURNING *
      )
      SELECT ${columns}, ${before} AS claim FROM taken ORDER BY ${sql(key)}`;
  }

  /** The condition that some row is due, of those that meet another condition if there is one. */
  isDue(sql: ISql, where: Fragment = sql`true`): Fragment {
    const { table, due } = this.#queue;
    return sql`EXISTS (SELECT 1 FROM ${sql(table)} WHERE ${sql(due)} <= now() AND ${where})`;
  }

  /**
   * Frees rows that an earlier process of the claimant's data directory had when it died, so that nobody waits for their
   * lease; how many. To be called before the claimant makes a claim. Those that are tried for a second time stay leased: a
   * row that whoever takes it dies of must not end every start.
   */
  async takeBack(sql: Sql, claimant: Claimant, where: Fragment): Promise<number> {
    const { table, claim, due, attempts } = this.#queue;
    const { first, last } = claimant.bounds;
    const { count } = await sql`
      UPDATE ${sql(table)} SET ${this.freed(sql)}, ${sql(due)} = now()
      WHERE ${sql(claim)} BETWEEN ${first} AND ${last} AND ${sql(attempts)} <= 1 AND ${where}`;
    return count;
  }

  /** Gives rows back whose attempt failed, due again after `delayMs`. */
  postpone(sql: Sql | TransactionSql, claim: Claim, delayMs: number): Promise<boolean> {
    return this.#putBack(sql, claim, delayMs, sql`${sql(this.#queue.attempts)}`);
  }

  /** Gives rows back whose attempt does not count, due again after `delayMs`. */
  giveBack(sql: Sql | TransactionSql, claim: Claim, delayMs = 0): Promise<boolean> {
    return this.#putBack(sql, claim, delayMs, sql`${sql(this.#queue.attempts)} - 1`);
  }

  /** Gives rows back that are done with until somebody wants them again: their attempts begin anew. */
  release(sql: Sql | TransactionSql, claim: Claim): Promise<boolean> {
    return this.#putBack(sql, claim, 0, sql`0`);
  }

  async #putBack(
    sql: Sql | TransactionSql,
    claim: Claim,
    delayMs: number,
    attemptsLeft: Fragment,
  ): Promise<boolean> {
    const { table, due, attempts } = this.#queue;
    const { count } = await sql`
      UPDATE ${sql(table)}
      SET ${this.freed(sql)}, ${sql(due)} = ${fromNow(sql, delayMs)}, ${sql(attempts)} = ${attemptsLeft}
      WHERE ${this.held(sql, claim)}`;
    return count > 0;
  }
}
