import type { Fragment, Sql, TransactionSql } from "postgres";
import type { Claim } from "../../jobs/claims/leased-rows.ts";
import { WorkQueue } from "../../jobs/claims/work-queue.ts";
import { allOf } from "../../storage/all-of.ts";
import { lockEvents } from "./event-store.ts";

/** The queries by which instances share deliveries: who has which, for how long, and when it is tried again. */
const DELIVERIES = new WorkQueue({
  table: "event_deliveries",
  key: "id",
  claim: "claim_id",
  due: "due_at",
  attempts: "attempts",
});

/** A delivery that this instance has taken. */
export interface ClaimedDelivery extends Claim {
  readonly key: { readonly id: string; readonly organization_id: number };
  readonly eventId: string;
  readonly subscriber: string;
  readonly organizationId: number;
  readonly subject: string;
  /** From 1. */
  readonly attempt: number;
}

interface Claiming {
  /** Those that this server knows: an older one leaves what a newer one wrote. */
  readonly subscribers: readonly string[];
  /** How many places an organisation has here. */
  readonly running: ReadonlyMap<number, number>;
  readonly maxRunningOfOne: number;
  /** Places that are free. */
  readonly max: number;
  /** Deliveries of one organisation that share a place; one that is tried again has a place by itself. */
  readonly together: number;
  /** The organisation that had its turn last. */
  readonly after: number;
  readonly leaseMs: number;
}

interface DeliveryRow {
  readonly id: string;
  readonly event_id: string;
  readonly subscriber: string;
  readonly organization_id: number;
  readonly subject: string;
  readonly attempts: number;
}

/** Takes what is due, of the next organisations in turn: a place for each, and then more while there are any. */
export async function claimDeliveries(sql: Sql, claiming: Claiming): Promise<ClaimedDelivery[]> {
  const { leaseMs } = claiming;
  const max = claiming.max * claiming.together;
  const rows = await DELIVERIES.take<DeliveryRow>(sql, {
    where: sql`id IN (${nextInTurn(sql, claiming)})`,
    order: sql`due_at, id`,
    max,
    leaseMs,
    columns: sql`id, event_id, subscriber, organization_id, subject, attempts`,
  });
  return rows.map((row) => ({
    claim: row.claim,
    key: { id: row.id, organization_id: row.organization_id },
    eventId: row.event_id,
    subscriber: row.subscriber,
    organizationId: row.organization_id,
    subject: row.subject,
    attempt: row.attempts,
  }));
}

/** The condition that something is to be delivered. */
export function isAnyDue(sql: Sql): Fragment {
  return DELIVERIES.isDue(sql);
}

/** The condition that somebody has not been told of something yet. */
export function isAnyBehind(sql: Sql): Fragment {
  return sql`EXISTS (SELECT 1 FROM event_deliveries WHERE due_at IS NOT NULL)`;
}

/** Ids of what is due, whose organisations come next. */
function nextInTurn(sql: Sql, claiming: Claiming): Fragment {
  const { subscribers, running, maxRunningOfOne, max, together, after } = claiming;
  const full = [...running].flatMap(([id, count]) => (count >= maxRunningOfOne ? [id] : []));
  const isDue = sql`due_at <= now() AND subscriber = ANY(${[...subscribers]}::text[])`;
  return sql`
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
    )
    SELECT id FROM (
      SELECT ready.id, dense_rank() OVER (ORDER BY ready.place, served.organization_id) AS turn
      FROM served
      LEFT JOIN unnest(${[...running.keys()]}::integer[], ${[...running.values()]}::integer[])
        AS busy (organization_id, running) USING (organization_id)
      CROSS JOIN LATERAL (
        SELECT id, ceil(sum(CASE attempts WHEN 0 THEN 1 ELSE ${together}::integer END) OVER (ORDER BY due_at, id)
                        / ${together}::numeric) AS place
        FROM (
          SELECT id, due_at, attempts FROM event_deliveries
          WHERE ${isDue} AND event_deliveries.organization_id = served.organization_id
          ORDER BY due_at, id LIMIT ${maxRunningOfOne * together}
        ) AS oldest
      ) AS ready
      WHERE ready.place + coalesce(busy.running, 0) <= ${maxRunningOfOne}
    ) AS placed
    WHERE turn <= ${max}`;
}

/** An event as it is stored. */
export interface StoredEvent {
  readonly id: number;
  readonly kind: string;
  readonly subject: string;
  readonly happenedAtMs: number;
  readonly payload: unknown;
}

/** Holds a delivery until the transaction ends; null when it is not this instance's any more. */
export async function holdDelivery(
  tx: TransactionSql,
  claimed: ClaimedDelivery,
): Promise<StoredEvent | null> {
  if (!(await lockIfOurs(tx, claimed))) return null;
  const [row] = await tx<
    { id: string; kind: string; subject: string; payload: unknown; happened_at: Date }[]
  >`
    SELECT id, kind, subject, payload, happened_at FROM events
    WHERE organization_id = ${claimed.organizationId} AND id = ${claimed.eventId}`;
  if (row === undefined) return null;
  const { id, kind, subject, payload, happened_at } = row;
  return { id: Number(id), kind, subject, payload, happenedAtMs: happened_at.getTime() };
}

/**
 * Ends held deliveries of one subscriber and organisation, which makes the next one of each subject due. Both statements are
 * sent at once: from the first on others of the organisation wait, and a round trip is longest where the machine is busiest.
 */
export async function settleDeliveries(
  tx: TransactionSql,
  claimed: readonly ClaimedDelivery[],
): Promise<void> {
  const [first] = claimed;
  if (first === undefined) return;
  const { organizationId, subscriber } = first;
  await allOf<unknown>([
    lockEvents(tx, organizationId),
    tx`
      WITH ended AS (
        DELETE FROM event_deliveries USING unnest(
          ${claimed.map(({ key }) => key.id)}::bigint[], ${claimed.map(({ claim }) => claim)}::uuid[]) AS held (id, claim)
        WHERE event_deliveries.id = held.id AND claim_id = held.claim AND organization_id = ${organizationId}
        RETURNING event_deliveries.subject, event_deliveries.event_id
      ), next AS MATERIALIZED (
        SELECT (
          SELECT id FROM event_deliveries AS later
          WHERE later.organization_id = ${organizationId} AND later.subscriber = ${subscriber}
            AND later.subject = ended.subject AND later.event_id > ended.event_id AND later.set_aside_at IS NULL
          ORDER BY later.event_id LIMIT 1
        ) AS id
        FROM ended
      )
      UPDATE event_deliveries SET due_at = clock_timestamp() WHERE id IN (SELECT id FROM next)`,
  ]);
}

/** Puts a delivery off that failed; with `isUncounted` the attempt counts for nothing, for it was not the delivery's fault. */
export async function postponeDelivery(
  sql: Sql,
  claimed: ClaimedDelivery,
  { delayMs, error, isUncounted }: { delayMs: number; error: string; isUncounted: boolean },
): Promise<void> {
  await sql.begin(async (tx) => {
    if (!(await lockIfOurs(tx, claimed))) return;
    await tx`UPDATE event_deliveries SET last_error = ${error} WHERE ${DELIVERIES.held(tx, claimed)}`;
    if (isUncounted) await DELIVERIES.giveBack(tx, claimed, delayMs);
    else await DELIVERIES.postpone(tx, claimed, delayMs);
  });
}

/** Gives a delivery up, so that those of its subject behind it go on. */
export async function setDeliveryAside(sql: Sql, claimed: ClaimedDelivery, error: string): Promise<void> {
  await sql.begin(async (tx) => {
    if (!(await lockIfOurs(tx, claimed))) return;
    await tx`
      UPDATE event_deliveries
      SET ${DELIVERIES.freed(tx)}, due_at = NULL, set_aside_at = now(), last_error = ${error}
      WHERE ${DELIVERIES.held(tx, claimed)}`;
    await lockEvents(tx, claimed.organizationId);
    await makeNextDue(tx, claimed);
  });
}

/**
 * Locks a delivery that is still ours. Another instance that looks for due ones may have the row locked for a moment although
 * it leaves it, and a transaction of the same attempt that nobody waits for any more may go on until Postgres ends it: it
 * decides then.
 */
async function lockIfOurs(tx: TransactionSql, claimed: ClaimedDelivery): Promise<boolean> {
  const locked = await tx`
    SELECT 1 FROM event_deliveries WHERE ${DELIVERIES.held(tx, claimed)} FOR UPDATE`;
  return locked.length > 0;
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
