import type { Sql } from "postgres";

/** The columns that say when something becomes due or ends, of the tables that are looked at by the database's clock. */
const TIMES = {
  idempotency_keys: ["leased_until", "expires_at", "asked_at"],
  mail_outbox: ["next_attempt_at", "expires_at"],
  log_archive_units: ["retry_at"],
  job_turns: ["next_attempt_at"],
  quarantine_records: ["claimed_at"],
} as const;

/**
 * Lets time pass for the rows of a table: the clock of the database cannot be set, so they become older. All at once, and
 * with the table locked, for instances change them at the same time, in an order of their own.
 */
export async function letPass(sql: Sql, table: keyof typeof TIMES, ms: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`LOCK TABLE ${tx(table)} IN EXCLUSIVE MODE`;
    for (const column of TIMES[table])
      await tx`
        UPDATE ${tx(table)}
        SET ${tx(column)} = ${tx(column)} - ${ms}::double precision * interval '1 millisecond'`;
  });
}
