import type { Sql, TransactionSql } from "postgres";
import { hashToken } from "../../../access/secret-token.ts";
import { addressKey } from "../../../http/client-address.ts";
import { PER_CLIENT } from "./limits.ts";

/** How turns of clients are called among those of jobs. */
const PREFIX = "status-page-subscription:";
/** A number that no other advisory lock of two numbers has; the other one stands for the client. */
const LOCK_CLASS = 918_274_129;
/** Of a hash, so that nobody's address is kept. */
const KEY_CHARS = 22;

/**
 * Whether a client may subscribe once more, on whichever instance it asks; if so it has. It has a few turns, and each comes
 * again after an hour. Counts with the transaction, which holds a lock on the client until it ends.
 */
export async function takeClientTurn(
  tx: TransactionSql,
  clientAddress: string,
  nowMs: number,
): Promise<boolean> {
  const key = hashToken(addressKey(clientAddress)).toString("base64url").slice(0, KEY_CHARS);
  await tx`SELECT pg_advisory_xact_lock(${LOCK_CLASS}::integer, hashtext(${key}))`;
  const { count } = await tx`
    INSERT INTO job_turns (name, next_attempt_at)
    SELECT free.name, ${new Date(nowMs + PER_CLIENT.withinMs)}
    FROM (
      SELECT ${`${PREFIX}${key}:`} || nth AS name FROM generate_series(1, ${PER_CLIENT.max}::integer) AS nth
    ) AS free
    WHERE NOT EXISTS (
      SELECT 1 FROM job_turns taken WHERE taken.name = free.name AND taken.next_attempt_at > ${new Date(nowMs)}
    )
    LIMIT 1
    ON CONFLICT (name) DO UPDATE SET next_attempt_at = excluded.next_attempt_at`;
  return count > 0;
}

/** Forgets clients that have all their turns again. */
export async function removeClientTurns(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const rows = await sql`
    DELETE FROM job_turns WHERE name IN (
      SELECT name FROM job_turns
      WHERE starts_with(name, ${PREFIX}) AND next_attempt_at <= ${new Date(nowMs)} LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ) RETURNING 1`;
  return rows.length;
}
