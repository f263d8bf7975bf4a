import type { Fragment, Sql, TransactionSql } from "postgres";
import { countingNone, deathsOf } from "../../jobs/claims/deaths.ts";
import type { Claim } from "../../jobs/claims/leased-rows.ts";
import { WorkQueue } from "../../jobs/claims/work-queue.ts";
import { fromNow } from "../../storage/database-clock.ts";
import type { ChannelName } from "../channels/target.ts";
import { KEPT_MS } from "./limits.ts";

/** The queries about who is told of what. The sender works for every organisation; all others name theirs first. */

export const DELIVERIES = new WorkQueue({
  table: "deliveries",
  key: "id",
  claim: "claim_id",
  due: "next_attempt_at",
  attempts: "attempts",
  forgivesDeath: true,
});

/** The condition that something is to be told. */
export function isAnyDue(sql: Sql): Fragment {
  return DELIVERIES.isDue(sql, sql`state = 'pending'`);
}

export type DeliveryState = "pending" | "delivered" | "failed" | "suppressed" | "superseded";

interface NewDelivery {
  readonly incidentId: number | null;
  /** What it tells of: told again it is the same delivery. */
  readonly eventId: string;
  readonly channel: ChannelName;
  readonly targetHash: Uint8Array;
  readonly lane: string;
  /** 0 goes before 1. */
  readonly priority: number;
  readonly sealed: Uint8Array;
  readonly state: "pending" | "suppressed";
}

/** A delivery that one sender has taken. */
export interface TakenDelivery extends Claim {
  readonly id: number;
  readonly organizationId: number;
  readonly incidentId: number | null;
  readonly channel: ChannelName;
  readonly targetHash: Uint8Array;
  readonly lane: string;
  readonly priority: number;
  readonly sealed: Uint8Array;
  /** This one included. */
  readonly attempt: number;
  /** How many senders died in a row that had it. */
  readonly deaths: number;
}

export interface TakenRow {
  id: string;
  organization_id: number;
  incident_id: string | null;
  channel: ChannelName;
  target_hash: Uint8Array;
  lane: string;
  priority: number;
  sealed: Uint8Array;
  attempts: number;
}

/** Writes a delivery, once for what it tells, and answers its id; null where it was written before. */
export async function insertDelivery(
  tx: TransactionSql,
  organizationId: number,
  delivery: NewDelivery,
  nowMs: number,
): Promise<number | null> {
  const { incidentId, eventId, channel, targetHash, lane, priority, sealed, state } = delivery;
  const [row] = await tx<{ id: string }[]>`
    INSERT INTO deliveries (organization_id, incident_id, event_id, channel, target_hash, lane, priority, sealed, state,
                            created_at, next_attempt_at)
    VALUES (${organizationId}, ${incidentId}, ${eventId}, ${channel}, ${targetHash}, ${lane}, ${priority}, ${sealed},
            ${state}, ${new Date(nowMs)}, now())
    ON CONFLICT (event_id, channel, target_hash) DO NOTHING RETURNING id`;
  return row === undefined ? null : Number(row.id);
}

/** What is not to be told any more, for something else is told in its place. */
export async function supersede(
  tx: TransactionSql,
  organizationId: number,
  {
    incidentId,
    channels,
    priority,
  }: { incidentId: number; channels: readonly ChannelName[]; priority?: number },
): Promise<number> {
  const { count } = await tx`
    UPDATE deliveries SET state = 'superseded' WHERE id IN (
      SELECT id FROM deliveries
      WHERE organization_id = ${organizationId} AND incident_id = ${incidentId} AND state = 'pending'
        AND channel = ANY(${[...channels]}::text[])
        AND (${priority ?? null}::smallint IS NULL OR priority = ${priority ?? null})
      -- As whoever ends several locks them, so that the two never wait for each other.
      ORDER BY id FOR UPDATE
    )`;
  return count;
}

/** The receivers of an incident that were told something of it, are being told it just now, or are about to be. */
export async function toldTargets(
  tx: TransactionSql,
  organizationId: number,
  incidentId: number,
): Promise<Set<string>> {
  const rows = await tx<{ target_hash: Uint8Array }[]>`
    SELECT DISTINCT target_hash FROM deliveries
    WHERE organization_id = ${organizationId} AND incident_id = ${incidentId} 
      AND (state IN ('pending', 'delivered') OR (state = 'superseded' AND claim_id IS NOT NULL))`;
  return new Set(rows.map(({ target_hash }) => Buffer.from(target_hash).toString("base64")));
}

/** The other deliveries to a receiver that wait and that nobody died with. */
export async function takeRestOfTarget(
  sql: Sql,
  taken: TakenDelivery,
  { max, leaseMs }: { max: number; leaseMs: number },
): Promise<TakenDelivery[]> {
  const claim = countingNone(taken.claim);
  const rows = await sql<TakenRow[]>`
    UPDATE deliveries
    SET claim_id = ${claim}, next_attempt_at = ${fromNow(sql, leaseMs)}, attempts = attempts + 1
    WHERE id IN (
      SELECT id FROM deliveries
      WHERE target_hash = ${taken.targetHash} AND organization_id = ${taken.organizationId} AND state = 'pending'
        AND channel = ${taken.channel} AND priority > 0 AND claim_id IS NULL
      ORDER BY id LIMIT ${max} FOR UPDATE SKIP LOCKED
    )
    RETURNING ${takenColumns(sql)}`;
  return rows.map((row) => takenOf({ ...row, claim })).toSorted((left, right) => left.id - right.id);
}

/** What was told to a receiver since a time, and when it last got several messages in one. */
export async function toldSince(
  sql: Sql,
  targetHash: Uint8Array,
  windowMs: number,
): Promise<{ messages: number; lastDigestAgeMs: number | null }> {
  const [row] = await sql<{ messages: number; digest_age_ms: number | null }[]>`
    SELECT count(*) FILTER (WHERE NOT in_digest)::integer AS messages,
           (extract(epoch FROM now() - max(delivered_at) FILTER (WHERE in_digest)) * 1000)::float8 AS digest_age_ms
    FROM deliveries
    WHERE target_hash = ${targetHash} AND delivered_at > ${fromNow(sql, -windowMs)}`;
  return { messages: row?.messages ?? 0, lastDigestAgeMs: row?.digest_age_ms ?? null };
}

/** A delivery that has arrived. */
export interface Arrived {
  readonly delivery: TakenDelivery;
  /** Of the answer. */
  readonly code: number | null;
  readonly inDigest: boolean;
}

/** Ends deliveries that are still their sender's. What was sent while it was superseded was told all the same. */
export async function endArrived(sql: Sql, arrived: readonly Arrived[]): Promise<void> {
  await sql`
    WITH locked AS MATERIALIZED (
      SELECT id FROM deliveries WHERE id = ANY(${arrived.map(({ delivery }) => delivery.id)}::bigint[])
      ORDER BY id FOR UPDATE
    )
    UPDATE deliveries
    SET state = 'delivered', claim_id = NULL, last_code = ended.code, last_error = NULL, delivered_at = now(),
        in_digest = ended.in_digest = 1
    FROM unnest(${arrived.map(({ delivery }) => delivery.id)}::bigint[],
                ${arrived.map(({ delivery }) => delivery.claim)}::uuid[],
                ${arrived.map(({ code }) => code)}::integer[],
                ${arrived.map(({ inDigest }) => Number(inDigest))}::integer[]) AS ended (id, claim, code, in_digest)
    WHERE deliveries.id = ended.id AND deliveries.claim_id = ended.claim
      AND deliveries.id IN (SELECT id FROM locked)`;
}

/** Gives up a delivery that is still its sender's. */
export async function giveUp(
  sql: Sql,
  claim: Claim,
  { code, error }: { code: number | null; error: string },
): Promise<void> {
  await sql`
    UPDATE deliveries SET state = 'failed', ${DELIVERIES.freed(sql)}, last_code = ${code}, last_error = ${error}
    WHERE ${DELIVERIES.held(sql, claim)} AND state = 'pending'`;
}

/** Notes why an attempt came to nothing; the delivery stays its sender's. */
export async function noteFailure(
  sql: Sql,
  claim: Claim,
  { code, error }: { code: number | null; error: string },
): Promise<void> {
  await sql`
    UPDATE deliveries SET last_code = ${code}, last_error = ${error} WHERE ${DELIVERIES.held(sql, claim)}`;
}

/** What waits: how many, counted up to a bound, and for how long the oldest has been due. */
export async function backlog(
  sql: Sql,
  countedMax: number,
): Promise<{ waiting: number; oldestAgeMs: number }> {
  const [row] = await sql<{ waiting: number; age: number | null }[]>`
    SELECT count(*)::integer AS waiting, (extract(epoch FROM now() - min(next_attempt_at)) * 1000)::float8 AS age
    FROM (
      SELECT next_attempt_at FROM deliveries WHERE state = 'pending' AND attempts = 0 LIMIT ${countedMax}
    ) AS counted`;
  return { waiting: row?.waiting ?? 0, oldestAgeMs: Math.max(row?.age ?? 0, 0) };
}

/** Forgets deliveries whose time is over, at most `limit`, and answers how many. */
export async function removeOldDeliveries(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM deliveries WHERE created_at < ${new Date(nowMs - KEPT_MS)} AND state <> 'pending'
      LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM deliveries d USING old WHERE d.id = old.id`;
  return count;
}

/** What is read of a delivery that is taken. */
export function takenColumns(sql: Sql) {
  return sql`id, organization_id, incident_id, channel, target_hash, lane, priority, sealed, attempts`;
}

/** A delivery from what was read of it. */
export function takenOf(row: TakenRow & { readonly claim: string }): TakenDelivery {
  return {
    id: Number(row.id),
    claim: row.claim,
    key: { id: row.id },
    organizationId: row.organization_id,
    incidentId: row.incident_id === null ? null : Number(row.incident_id),
    channel: row.channel,
    targetHash: row.target_hash,
    lane: row.lane,
    priority: row.priority,
    sealed: row.sealed,
    attempt: row.attempts,
    deaths: deathsOf(row.claim),
  };
}
