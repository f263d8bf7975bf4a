import type { Sql, TransactionSql } from "postgres";
import { fromNow } from "../../storage/database-clock.ts";
import { lockEvents } from "./event-store.ts";

/** The queries by which instances share deliveries: who has which, for how long, and when it is tried again. */

/** A delivery that this instance has taken. */
export interface ClaimedDelivery {
  readonly eventId: string;
  readonly subscriber: string;
  readonly organizationId: number;
  readonly subject: string;
  /** From 1; a delivery that has a later one is another instance's by now. */
  readonly attempt: number;
}

interface Claiming {
  /** Those that this server knows: an older one leaves what a newer one wrote. */
  readonly subscribers: readonly string[];
  /** How many deliveries of an organisation are under way here. */
  readonly running: ReadonlyMap<number, number>;
  readonly maxRunningOfOne: number;
  readonly max: number;
  /** The organisation that had its turn last. */
  readonly after: number;
  readonly leaseMs: number;
}

/** Takes what is due, of the next organisations in turn: one of each, and then more while there is room. */
export async function claimDeliveries(sql: Sql, claiming: Claiming): Promise<ClaimedDelivery[]> {
  const { subscribers, running, maxRunningOfOne, max, after, leaseMs } = claiming;
  const full = [...running].flatMap(([id, count]) => (count >= maxRunningOfOne ? [id] : []));
  const isDue = sql`due_at <= now() AND subscriber = ANY(${[...subscribers]}::text[])`;
  const rows = await sql<
    { event_id: string; subscriber: string; organization_id: number; subject: string; attempts: number }[]
  >`
    WITH RECURSIVE waiting AS (
      SELECT min(organization_id) AS organization_id FROM event_deliveries
      WHERE ${isDue} AND organization_id > ${after} AND organization_id <> ALL(${full}::integer[])
      UNION ALL
      SELECT (SELECT min(next.organization_id) FROM event_deliveries AS next
              WHERE ${isDue} AND next.organization_id > waiting.organization_id
                AND next.organization_id <> ALL(${full}::integer[]))
      FROM waiting WHERE waiting.organization_id IS NOT NULL
    ), served AS (
      SELECT organization_id FROM waiting WHERE organization_id IS NOT NULL LIMIT ${max}
    ), first AS (
      SELECT due.event_id, due.subscriber
      FROM served
      LEFT JOIN unnest(${[...running.keys()]}::integer[], ${[...running.values()]}::integer[])
        AS busy (organization_id, running) USING (organization_id)
      CROSS JOIN LATERAL (
        SELECT event_id, subscriber, row_number() OVER (ORDER BY due_at, event_id) AS place
        FROM event_deliveries
        WHERE ${isDue} AND event_deliveries.organization_id = served.organization_id
        ORDER BY due_at, event_id LIMIT ${maxRunningOfOne}
      ) AS due
      WHERE due.place + coalesce(busy.running, 0) <= ${maxRunningOfOne}
      ORDER BY due.place, served.organization_id LIMIT ${max}
    ), taken AS (
      SELECT held.event_id, held.subscriber
      FROM event_deliveries AS held JOIN first USING (event_id, subscriber)
      WHERE held.due_at <= now() FOR UPDATE OF held SKIP LOCKED
    )
    UPDATE event_deliveries AS held
    SET attempts = held.attempts + 1, due_at = ${fromNow(sql, leaseMs)}
    FROM taken WHERE held.event_id = taken.event_id AND held.subscriber = taken.subscriber
    RETURNING held.event_id, held.subscriber, held.organization_id, held.subject, held.attempts`;
  return rows.map((row) => ({
    eventId: row.event_id,
    subscriber: row.subscriber,
    organizationId: row.organization_id,
    subject: row.subject,
    attempt: row.attempts,
  }));
}

/** An event as it is stored. */
export interface StoredEvent {
  readonly id: number;
  readonly subject: string;
  readonly happenedAtMs: number;
  readonly payload: unknown;
}

/**
 * Holds a delivery until the transaction ends, which Postgres does when nothing is said in it for `silenceMaxMs`; null
 * when it is not this instance's any more.
 */
export async function holdDelivery(
  tx: TransactionSql,
  { eventId, subscriber, organizationId, attempt }: ClaimedDelivery,
  silenceMaxMs: number,
): Promise<StoredEvent | null> {
  await tx`SELECT set_config('idle_in_transaction_session_timeout', ${String(silenceMaxMs)}, true)`;
  const [row] = await tx<{ id: string; subject: string; payload: unknown; happened_at: Date }[]>`
    SELECT events.id, events.subject, events.payload, events.happened_at
    FROM event_deliveries AS held JOIN events ON events.id = held.event_id
    WHERE held.organization_id = ${organizationId} AND held.event_id = ${eventId}
      AND held.subscriber = ${subscriber} AND held.attempts = ${attempt} AND held.set_aside_at IS NULL
    FOR UPDATE OF held SKIP LOCKED`;
  if (row === undefined) return null;
  const { id, subject, payload, happened_at } = row;
  return { id: Number(id), subject, payload, happenedAtMs: happened_at.getTime() };
}

/** Ends a held delivery, which makes the next one of its subject due. */
export async function settleDelivery(tx: TransactionSql, claimed: ClaimedDelivery): Promise<void> {
  const { eventId, subscriber, organizationId } = claimed;
  await lockEvents(tx, organizationId);
  await tx`
    DELETE FROM event_deliveries
    WHERE organization_id = ${organizationId} AND event_id = ${eventId} AND subscriber = ${subscriber}`;
  await makeNextDue(tx, claimed);
}

/** Puts a delivery off that failed; with `isUncounted` the attempt counts for nothing, for it was not the delivery's fault. */
export async function postponeDelivery(
  sql: Sql,
  claimed: ClaimedDelivery,
  { delayMs, error, isUncounted }: { delayMs: number; error: string; isUncounted: boolean },
): Promise<void> {
  await sql`
    UPDATE event_deliveries AS put_off
    SET due_at = ${fromNow(sql, delayMs)}, last_error = ${error}, attempts = attempts - ${isUncounted ? 1 : 0}
    WHERE ${isStillOurs(sql, claimed)}`;
}

/** Gives a delivery up, so that those of its subject behind it go on. */
export async function setDeliveryAside(sql: Sql, claimed: ClaimedDelivery, error: string): Promise<void> {
  await sql.begin(async (tx) => {
    const aside = await tx`
      UPDATE event_deliveries AS put_off
      SET due_at = NULL, set_aside_at = now(), last_error = ${error}
      WHERE ${isStillOurs(tx, claimed)}`;
    if (aside.count === 0) return;
    await lockEvents(tx, claimed.organizationId);
    await makeNextDue(tx, claimed);
  });
}

/** A transaction of this attempt that nobody waits for any more may go on; it decides then. */
function isStillOurs(
  sql: Sql | TransactionSql,
  { eventId, subscriber, organizationId, attempt }: ClaimedDelivery,
) {
  return sql`put_off.event_id = ${eventId} AND put_off.subscriber = ${subscriber} AND EXISTS (
    SELECT 1 FROM event_deliveries AS held
    WHERE held.organization_id = ${organizationId} AND held.event_id = ${eventId}
      AND held.subscriber = ${subscriber} AND held.attempts = ${attempt}
    FOR UPDATE SKIP LOCKED)`;
}

async function makeNextDue(
  tx: TransactionSql,
  { organizationId, subscriber, subject, eventId }: ClaimedDelivery,
): Promise<void> {
  await tx`
    UPDATE event_deliveries SET due_at = clock_timestamp()
    WHERE organization_id = ${organizationId} AND subscriber = ${subscriber} AND event_id = (
      SELECT min(event_id) FROM event_deliveries
      WHERE organization_id = ${organizationId} AND subscriber = ${subscriber} AND subject = ${subject}
        AND event_id > ${eventId} AND set_aside_at IS NULL)`;
}

/** What is still to be told. */
export interface DeliveryBacklog {
  /** How long ago the oldest event happened that somebody has not been told of; 0 without one. */
  readonly lagMs: number;
  readonly setAside: number;
}

export async function readBacklog(sql: Sql, maxCounted: number): Promise<DeliveryBacklog> {
  const [row] = await sql<{ lag_ms: number | null; set_aside: number }[]>`
    SELECT (SELECT extract(epoch FROM clock_timestamp() - happened_at) * 1000 FROM events
            WHERE id = (SELECT min(event_id) FROM event_deliveries WHERE due_at IS NOT NULL)
           )::double precision AS lag_ms,
           (SELECT count(*) FROM (SELECT 1 FROM event_deliveries WHERE set_aside_at IS NOT NULL
                                  LIMIT ${maxCounted}) AS counted)::integer AS set_aside`;
  return { lagMs: Math.max(0, row?.lag_ms ?? 0), setAside: row?.set_aside ?? 0 };
}
