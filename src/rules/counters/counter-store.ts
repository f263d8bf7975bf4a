import type { Sql, TransactionSql } from "postgres";
import { currentMarks } from "../streams/stream-store.ts";

/** Which entries are counted; null for any. */
export interface CounterFilter {
  /** Words, as `q` of a search. */
  readonly query: string | null;
  readonly service: string | null;
  readonly level: string | null;
}

export interface Counter extends CounterFilter {
  readonly id: number;
  readonly organizationId: number;
  readonly bucketSec: number;
}

/** Makes a counter, which counts from the next seal on, in the transaction of what it is for. */
export async function makeCounter(
  tx: TransactionSql,
  organizationId: number,
  { query, service, level }: CounterFilter,
  bucketSec: number,
  nowMs: number,
): Promise<number> {
  const revision = await nextRevision(tx);
  const starts = await currentMarks(tx);
  const [made] = await tx<{ id: number }[]>`
    INSERT INTO log_counters (organization_id, query, service, level, bucket_sec, from_revision, starts, created_at)
    VALUES (${organizationId}, ${query}, ${service}, ${level}, ${bucketSec}, ${revision}, ${tx.json(starts)},
            ${new Date(nowMs)})
    RETURNING id::integer`;
  if (made === undefined) throw new Error("a counter was not made");
  return made.id;
}

/** Ends counting from the next seal on. */
export async function endCounter(tx: TransactionSql, organizationId: number, id: number): Promise<void> {
  const revision = await nextRevision(tx);
  await tx`
    UPDATE log_counters SET until_revision = ${revision}
    WHERE organization_id = ${organizationId} AND id = ${id} AND until_revision IS NULL`;
}

/** Changes of what is counted happen one after the other, and none while a seal notes what it counts by. */
async function nextRevision(tx: TransactionSql): Promise<string> {
  const [next] = await tx<{ revision: string }[]>`
    UPDATE counter_revisions SET revision = revision + 1 RETURNING revision::text`;
  if (next === undefined) throw new Error("there is no revision of counters");
  return next.revision;
}

/** The counters by which the entries of these organisations are counted at a revision. */
export async function countersAt(
  sql: Sql,
  organizationIds: readonly number[],
  revision: bigint,
): Promise<readonly Counter[]> {
  return sql<Counter[]>`
    SELECT id::integer, organization_id AS "organizationId", query, service, level, bucket_sec AS "bucketSec"
    FROM log_counters
    WHERE organization_id = ANY(${[...organizationIds]}) AND from_revision <= ${String(revision)}
      AND (until_revision IS NULL OR until_revision > ${String(revision)})
    ORDER BY organization_id, id`;
}

/** Counters whose past is to be counted, oldest first. */
export function duePasts(sql: Sql, max: number): Promise<readonly Counter[]> {
  return sql<Counter[]>`
    SELECT id::integer, organization_id AS "organizationId", query, service, level, bucket_sec AS "bucketSec"
    FROM log_counters WHERE past = 'due' AND until_revision IS NULL
    ORDER BY id LIMIT ${max}`;
}

/** Whether there are counts of the past, or there never will be. */
export async function notePast(sql: Sql, id: number, past: "counted" | "failed"): Promise<void> {
  await sql`UPDATE log_counters SET past = ${past} WHERE id = ${id}`;
}
