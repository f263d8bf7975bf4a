import type { Sql, TransactionSql } from "postgres";
import { fromNow } from "../../../storage/database-clock.ts";
import { type CheckRow, encodeCheckRows } from "./check-rows.ts";
import { BATCHES_KEPT_MS, BATCHES_LEASE_MS, BATCHES_MAX } from "./limits.ts";

/** The queries about results on their way into the log store. */

/** Results that go into the store in one insert, again and again the same ones until it is done. */
interface ClaimedBatches {
  /** By which the store tells a repeated insert. */
  readonly claim: string;
  /** A line of JSON each. */
  readonly rows: readonly Uint8Array[];
  readonly attempts: number;
}

/** Puts results on their way, in the transaction of what they led to. */
export async function insertBatch(tx: TransactionSql, rows: readonly CheckRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    INSERT INTO check_batches (rows, count, created_at, next_attempt_at)
    VALUES (${Buffer.from(encodeCheckRows(rows))}, ${rows.length}, now(), now())`;
}

/** Takes batches that somebody took before and did not finish, else some that nobody has taken; null when there are none. */
export async function claimBatches(sql: Sql): Promise<ClaimedBatches | null> {
  const again = await sql<BatchRow[]>`
    UPDATE check_batches SET next_attempt_at = ${fromNow(sql, BATCHES_LEASE_MS)}, attempts = attempts + 1
    WHERE next_attempt_at <= now() AND claim_id = (
      SELECT claim_id FROM check_batches WHERE claim_id IS NOT NULL AND next_attempt_at <= now() ORDER BY id LIMIT 1)
    RETURNING id, claim_id, rows, attempts`;
  if (again.length > 0) return claimedOf(again);
  const taken = await sql<BatchRow[]>`
    UPDATE check_batches SET claim_id = ${crypto.randomUUID()}, next_attempt_at = ${fromNow(sql, BATCHES_LEASE_MS)}
    WHERE id IN (
      SELECT id FROM check_batches WHERE claim_id IS NULL ORDER BY id LIMIT ${BATCHES_MAX} FOR UPDATE SKIP LOCKED)
    RETURNING id, claim_id, rows, attempts`;
  return taken.length === 0 ? null : claimedOf(taken);
}

/** They are in the store. */
export async function removeBatches(sql: Sql, claim: string): Promise<void> {
  await sql`DELETE FROM check_batches WHERE claim_id = ${claim}`;
}

/** They are to be tried again, as they are. */
export async function postponeBatches(sql: Sql, claim: string, delayMs: number): Promise<void> {
  await sql`UPDATE check_batches SET next_attempt_at = ${fromNow(sql, delayMs)} WHERE claim_id = ${claim}`;
}

/** How many results wait. */
export async function countWaiting(sql: Sql): Promise<number> {
  const [row] = await sql<{ checks: string }[]>`SELECT coalesce(sum(count), 0) AS checks FROM check_batches`;
  return Number(row?.checks ?? 0);
}

/** Removes results that have waited for too long, at most `limit`. */
export async function removeOldBatches(sql: Sql, _nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM check_batches WHERE id IN (
      SELECT id FROM check_batches WHERE created_at < ${fromNow(sql, -BATCHES_KEPT_MS)}
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED)`;
  return count;
}

interface BatchRow {
  id: string;
  claim_id: string;
  rows: Uint8Array;
  attempts: number;
}

/** In the order of their ids: the store knows a repetition by what is in it, too. */
function claimedOf(batches: BatchRow[]): ClaimedBatches {
  const [first] = batches;
  if (first === undefined) throw new Error("nothing was claimed");
  const sorted = batches.toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id)));
  return { claim: first.claim_id, rows: sorted.map(({ rows }) => rows), attempts: first.attempts };
}
