import type { Sql, TransactionSql } from "postgres";
import { hashToken } from "../../../access/secret-token.ts";
import { addressKey } from "../../../http/client-address.ts";
import { PER_CLIENT } from "./limits.ts";

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
    INSERT INTO subscription_turns (client_hash, nth, free_at)
    SELECT ${key}, free.nth, ${new Date(nowMs + PER_CLIENT.withinMs)}
    FROM generate_series(1, ${PER_CLIENT.max}::integer) AS free (nth)
    WHERE NOT EXISTS (
      SELECT 1 FROM subscription_turns taken
      WHERE taken.client_hash = ${key} AND taken.nth = free.nth AND taken.free_at > ${new Date(nowMs)})
    LIMIT 1
    ON CONFLICT (client_hash, nth) DO UPDATE SET free_at = excluded.free_at`;
  return count > 0;
}

/** Forgets turns that are free again. */
export async function removeClientTurns(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM subscription_turns WHERE (client_hash, nth) IN (
      SELECT client_hash, nth FROM subscription_turns WHERE free_at <= ${new Date(nowMs)}
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`;
  return count;
}
