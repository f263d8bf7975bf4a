import type { Sql, TransactionSql } from "postgres";
import { fromNow } from "../../storage/database-clock.ts";

/** The queries about mails that wait to be sent. They belong to no organisation. */

/** A mail that one sender has taken. */
export interface TakenMail {
  readonly id: number;
  readonly sealed: Uint8Array;
  /** This one included; it tells whether the mail is still the taker's. */
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

/** Takes mails that are due for the time of the lease, past those that another sender is taking; the oldest first. */
export async function takeDueMails(
  sql: Sql,
  { leaseMs, max }: { leaseMs: number; max: number },
): Promise<TakenMail[]> {
  const rows = await sql<{ id: string; sealed: Uint8Array; attempts: number; created_at: Date }[]>`
    UPDATE mail_outbox SET attempts = attempts + 1, next_attempt_at = ${fromNow(sql, leaseMs)}
    WHERE id IN (
      SELECT id FROM mail_outbox
      WHERE next_attempt_at <= now() AND expires_at > now()
      ORDER BY next_attempt_at, id
      LIMIT ${max}
      FOR UPDATE SKIP LOCKED
    )
    RETURNING id, sealed, attempts, created_at`;
  const mails = rows.map((row) => ({
    id: Number(row.id),
    sealed: row.sealed,
    attempt: row.attempts,
    createdAtMs: row.created_at.getTime(),
  }));
  return mails.toSorted((a, b) => a.id - b.id);
}

/** Removes a mail that was sent or given up, unless it is another sender's by now. */
export async function removeMail(sql: Sql, { id, attempt }: TakenMail): Promise<void> {
  await sql`DELETE FROM mail_outbox WHERE id = ${id} AND attempts = ${attempt}`;
}

/** Gives a mail back, to be taken again after `delayMs`, unless it is another sender's by now. */
export async function postponeMail(sql: Sql, { id, attempt }: TakenMail, delayMs: number): Promise<void> {
  await sql`
    UPDATE mail_outbox SET next_attempt_at = ${fromNow(sql, delayMs)}
    WHERE id = ${id} AND attempts = ${attempt}`;
}

/** Gives a mail back that nobody has tried to send. */
export async function returnMail(sql: Sql, { id, attempt }: TakenMail): Promise<void> {
  await sql`
    UPDATE mail_outbox SET attempts = attempts - 1, next_attempt_at = now()
    WHERE id = ${id} AND attempts = ${attempt}`;
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
