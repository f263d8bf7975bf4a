import type { Sql, TransactionSql } from "postgres";
import { fromNow } from "../../storage/database-clock.ts";
import { EVENT_KEPT_MS } from "../limits.ts";
import type { EmittedEvent } from "./event-kind.ts";

/** Names of subscribers by the kind of event they are told of. */
export type SubscribersOfKind = ReadonlyMap<string, readonly string[]>;

/** A number that no other advisory lock of two numbers has; the other one is the organisation. */
const LOCK_CLASS = 918_274_102;

/**
 * Lets transactions that write events of an organisation, or end deliveries, come one after the other until they are
 * over: so events have ids in the order of their commits, and whoever looks who is first of a subject misses nobody.
 * Taken at the end of a transaction, after which it waits for the audit log alone.
 */
export async function lockEvents(tx: TransactionSql, organizationId: number): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(${LOCK_CLASS}::integer, ${organizationId}::integer)`;
}

/**
 * Writes events down in this order, and whom they are to be told; the events must be locked. Whether one of the subject
 * waits already is asked without EXISTS, for which Postgres may read all that wait.
 */
export async function insertEvents(
  tx: TransactionSql,
  organizationId: number,
  events: readonly EmittedEvent[],
  subscribers: SubscribersOfKind,
): Promise<void> {
  const told = [...subscribers].flatMap(([kind, names]) => names.map((name) => ({ kind, name })));
  await tx`
    WITH written AS (
      INSERT INTO events (organization_id, kind, subject, payload)
      SELECT ${organizationId}, kind, subject, payload::jsonb
      FROM unnest(${events.map(({ kind }) => kind)}::text[], ${events.map(({ subject }) => subject)}::text[],
                  ${events.map(({ payload }) => payload)}::text[])
        WITH ORDINALITY AS given (kind, subject, payload, place)
      ORDER BY place
      RETURNING id, kind, subject
    )
    INSERT INTO event_deliveries (event_id, subscriber, organization_id, subject, due_at)
    SELECT written.id, told.subscriber, ${organizationId}, written.subject,
           CASE WHEN row_number() OVER (PARTITION BY told.subscriber, written.subject ORDER BY written.id) = 1
                 AND (
                   SELECT 1 FROM event_deliveries AS earlier
                   WHERE earlier.organization_id = ${organizationId} AND earlier.subscriber = told.subscriber
                     AND earlier.subject = written.subject AND earlier.set_aside_at IS NULL LIMIT 1) IS NULL
                THEN clock_timestamp() END
    FROM written
    JOIN unnest(${told.map(({ kind }) => kind)}::text[], ${told.map(({ name }) => name)}::text[])
      AS told (kind, subscriber) ON told.kind = written.kind`;
}

/** Removes old events that nobody is to be told of any more, at most `limit`; answers how many. */
export async function removeOldEvents(sql: Sql, _nowMs: number, limit: number): Promise<number> {
  const removed = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM events
      WHERE happened_at < ${fromNow(sql, -EVENT_KEPT_MS)} AND NOT EXISTS (
        SELECT 1 FROM event_deliveries WHERE event_id = events.id AND set_aside_at IS NULL)
      ORDER BY happened_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM events USING old WHERE events.id = old.id`;
  return removed.count;
}
