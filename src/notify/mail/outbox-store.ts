import type { Sql, TransactionSql } from "postgres";
import type { Claim } from "../../jobs/claims/leased-rows.ts";
import { WorkQueue } from "../../jobs/claims/work-queue.ts";

/** The queries about mails that wait to be sent. They belong to no organisation. */

export const MAILS = new WorkQueue({
  table: "mail_outbox",
  key: "id",
  claim: "claim_id",
  due: "next_attempt_at",
  attempts: "attempts",
});

/** A mail that one sender has taken. */
export interface TakenMail extends Claim {
  readonly id: number;
  readonly sealed: Uint8Array;
  /** This one included. */
  readonly attempt: number;
  readonly createdAtMs: number;
}

/** What waits. */
export interface OutboxState {
  /** Counted up to a bound. */
  readonly waiting: number;
  readonly oldestCreatedAtMs: number | null;
}

export async function insertMail(
  tx: TransactionSql,
  input: { sealed: Uint8Array; createdAtMs: number; expiresAtMs: number },
): Promise<void> {
  await tx`
    INSERT INTO mail_outbox (sealed, created_at, next_attempt_at, expires_at)
    VALUES (${input.sealed}, ${new Date(input.createdAtMs)}, now(), ${new Date(input.expiresAtMs)})`;
}

/** Takes mails that are due for the time of the lease; the oldest first. */
export async function takeDueMails(
  sql: Sql,
  { leaseMs, max }: { leaseMs: number; max: number },
): Promise<TakenMail[]> {
  const rows = await MAILS.take<{ id: string; sealed: Uint8Array; attempts: number; created_at: Date }>(sql, {
    where: sql`expires_at > now()`,
    order: sql`next_attempt_at, id`,
    max,
    leaseMs,
    columns: sql`id, sealed, attempts, created_at`,
  });
  return rows.map((row) => ({
    id: Number(row.id),
    claim: row.claim,
    key: { id: row.id },
    sealed: row.sealed,
    attempt: row.attempts,
    createdAtMs: row.created_at.getTime(),
  }));
}

/** Forgets mails that have lost their use; how many. */
export async function removeExpiredMails(sql: Sql, max: number): Promise<number> {
  const rows = await sql`
    DELETE FROM mail_outbox WHERE id IN (
      SELECT id FROM mail_outbox WHERE expires_at <= now() LIMIT ${max} FOR UPDATE SKIP LOCKED
    ) RETURNING 1`;
  return rows.length;
}

export async function outboxState(sql: Sql, countedMax: number): Promise<OutboxState> {
  const [row] = await sql<{ waiting: number; oldest: Date | null }[]>`
    SELECT count(*)::integer AS waiting, min(created_at) AS oldest
    FROM (SELECT created_at FROM mail_outbox ORDER BY id LIMIT ${countedMax}) AS counted`;
  return { waiting: row?.waiting ?? 0, oldestCreatedAtMs: row?.oldest?.getTime() ?? null };
}
