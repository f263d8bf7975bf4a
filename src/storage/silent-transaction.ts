import type { TransactionSql } from "postgres";

/**
 * Lets Postgres end a transaction in which nothing is said for so long, and free what it has locked: whoever began it may be
 * stopped or cut off, and its connection open all the same.
 */
export async function endWhenSilent(tx: TransactionSql, silenceMaxMs: number): Promise<void> {
  await tx`SELECT set_config('idle_in_transaction_session_timeout', ${String(silenceMaxMs)}, true)`;
}
