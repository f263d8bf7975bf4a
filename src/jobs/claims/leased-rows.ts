import type { Fragment, ISql, Sql, TransactionSql } from "postgres";
import { fromNow } from "../../storage/database-clock.ts";

/** Rows that one holder has taken, under a claim that no other one ever has. */
export interface Claim {
  readonly claim: string;
  /** Columns that find the rows by an index, or pick some of those under the claim. */
  readonly key: Readonly<Record<string, string | number | Uint8Array>>;
}

interface LeaseColumns {
  readonly table: string;
  /** A uuid: who holds the row, null when nobody does. */
  readonly claim: string;
  /** Until when the holder is believed to be alive. */
  readonly until: string;
}

/**
 * The rows of a table that are held by leases. A lease lasts by the clock of the database; one that is over is still its
 * holder's until somebody else takes the row. Every statement here names the claim, so what a holder does that has lost
 * its row changes nothing, and says so: the answer is false.
 */
export class LeasedRows {
  readonly #columns: LeaseColumns;

  constructor(columns: LeaseColumns) {
    this.#columns = columns;
  }

  /** The condition for rows that are still the claim's. */
  held(sql: ISql, claim: Claim): Fragment {
    return heldBy(sql, this.#columns.claim, claim);
  }

  /** The assignment after which nobody holds the row. */
  freed(sql: ISql): Fragment {
    return sql`${sql(this.#columns.claim)} = NULL`;
  }

  /** Says that the holder is alive, from now on for another lease. */
  async renew(sql: Sql, claim: Claim, leaseMs: number): Promise<boolean> {
    const { table, until } = this.#columns;
    const { count } = await sql`
      UPDATE ${sql(table)} SET ${sql(until)} = ${fromNow(sql, leaseMs)} WHERE ${this.held(sql, claim)}`;
    return count > 0;
  }

  /** Removes rows that are done with. */
  async remove(sql: Sql | TransactionSql, claim: Claim): Promise<boolean> {
    const { count } = await sql`DELETE FROM ${sql(this.#columns.table)} WHERE ${this.held(sql, claim)}`;
    return count > 0;
  }
}

/** The condition for rows whose column `column` names the claim. */
export function heldBy(sql: ISql, column: string, { claim, key }: Claim): Fragment {
  return Object.entries(key).reduce(
    (condition, [name, value]) => sql`${condition} AND ${sql(name)} = ${value}`,
    sql`${sql(column)} = ${claim}`,
  );
}
