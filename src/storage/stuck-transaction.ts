import type { TransactionSql } from "postgres";

/**
 * Lets Postgres end a transaction in which nothing is said for so long, or a statement takes so long, and free what it has locked:
 * whoever began it may be stopped or cut off, or have given up waiting, and its connection be open all the same.
 */
export async function endWhenStuck(tx: TransactionSql, maxMs: number): Promise<void> {
  await tx`
    SELECT set_config('idle_in_transaction_session_timeout', ${String(maxMs)}, true),
           set_config('statement_timeout', ${String(maxMs)}, true)`;
}
