import type { Sql, TransactionSql } from "postgres";
import { currentMarks } from "../streams/stream-store.ts";
import { FIRST_LOOK_MS } from "./limits.ts";

/** Which entries are counted; null for any. */
export interface EntryFilter {
  /** Words, as `q` of a search. */
  readonly query: string | null;
  readonly service: string | null;
  readonly level: string | null;
}

/** Which entries are counted, by which time, and what apart from each other. */
export interface CounterFilter extends EntryFilter {
  /** A condition; null for any entry. */
  readonly kql: string | null;
  /** Fields by whose values entries are counted apart. */
  readonly groupBy: readonly string[];
  /** The entry's own time, or the one that alerts take for it, which leave out what was old when it came; `past` does not. */
  readonly clock: "own" | "alert" | "past";
}

export interface Counter extends CounterFilter {
  readonly clock: "own" | "alert";
  readonly id: number;
  readonly organizationId: number;
  readonly bucketSec: number;
  /** Milliseconds since 1970 from which on the past is counted; null for all of it. */
  readonly pastFromMs: number | null;
}

/** What a counter is made of. */
export interface NewCounter extends CounterFilter {
  readonly clock: "own" | "alert";
  readonly bucketSec: number;
  readonly pastFromMs: number | null;
}

/** One that counts whole entries by their own time, and all that there ever was. */
export function plainCounter(filter: EntryFilter, bucketSec: number): NewCounter {
  const { query, service, level } = filter;
  return {
    ...{ query, service, level, bucketSec },
    ...{ kql: null, groupBy: [], clock: "own", pastFromMs: null },
  };
}

/** Makes a counter, which counts from the next seal on, in the transaction of what it is for. */
export async function makeCounter(
  tx: TransactionSql,
  organizationId: number,
  counter: NewCounter,
  nowMs: number,
): Promise<number> {
  const [id] = await makeCounters(tx, organizationId, [counter], nowMs);
  if (id === undefined) throw new Error("a counter was not made");
  return id;
}

/** Makes many at once, and answers their ids in their order. */
export async function makeCounters(
  tx: TransactionSql,
  organizationId: number,
  counters: readonly NewCounter[],
  nowMs: number,
): Promise<number[]> {
  if (counters.length === 0) return [];
  const revision = await nextRevision(tx);
  const starts = await currentMarks(tx);
  const texts = (of: (counter: NewCounter) => string | null) => tx`${counters.map(of)}::text[]`;
  const made = await tx<{ id: number }[]>`
    INSERT INTO log_counters (organization_id, query, kql, service, level, group_by, clock, bucket_sec, past_from,
                              from_revision, starts, created_at)
    SELECT ${organizationId}::integer, query, kql, service, level,
           ARRAY(SELECT jsonb_array_elements_text(group_by::jsonb)), clock, bucket_sec, past_from::timestamptz,
           ${revision}::bigint, ${tx.json(starts)}::jsonb, ${new Date(nowMs)}::timestamptz
    FROM unnest(${texts(({ query }) => query)}, ${texts(({ kql }) => kql)}, ${texts(({ service }) => service)},
                ${texts(({ level }) => level)}, ${texts(({ groupBy }) => JSON.stringify(groupBy))},
                ${texts(({ clock }) => clock)}, ${counters.map(({ bucketSec }) => bucketSec)}::integer[],
                ${texts(({ pastFromMs }) => (pastFromMs === null ? null : new Date(pastFromMs).toISOString()))})
      WITH ORDINALITY AS given (query, kql, service, level, group_by, clock, bucket_sec, past_from, place)
    ORDER BY place
    RETURNING id::integer`;
  // Ids are given out in the order of the rows; in which order they come back nobody promises.
  return made.map(({ id }) => id).toSorted((left, right) => left - right);
}

/** Ends counting from the next seal on. */
export async function endCounter(tx: TransactionSql, organizationId: number, id: number): Promise<void> {
  const revision = await nextRevision(tx);
  await tx`
    UPDATE log_counters SET until_revision = ${revision}
    WHERE organization_id = ${organizationId} AND id = ${id} AND until_revision IS NULL`;
}

/** Changes of what is looked for happen one after the other, and none while a seal notes what it counts by. */
export async function nextRevision(tx: TransactionSql): Promise<string> {
  const [next] = await tx<{ revision: string }[]>`
    UPDATE counter_revisions SET revision = revision + 1 RETURNING revision::text`;
  if (next === undefined) throw new Error("there is no revision of counters");
  return next.revision;
}

/** The columns of a counter, under its names. */
function counterColumns(sql: Sql) {
  return sql`
    id::integer, organization_id AS "organizationId", query, kql, service, level, group_by AS "groupBy", clock,
    bucket_sec AS "bucketSec", (extract(epoch FROM past_from) * 1000)::double precision AS "pastFromMs"`;
}

/** The counters by which the entries of these organisations are counted at a revision. */
export async function countersAt(
  sql: Sql,
  organizationIds: readonly number[],
  revision: bigint,
): Promise<readonly Counter[]> {
  return sql<Counter[]>`
    SELECT ${counterColumns(sql)} FROM log_counters
    WHERE organization_id = ANY(${[...organizationIds]}) AND from_revision <= ${String(revision)}
      AND (until_revision IS NULL OR until_revision > ${String(revision)})
    ORDER BY organization_id, id`;
}

/** Whether anybody counts anything. */
export async function isAnyCounted(tx: TransactionSql): Promise<boolean> {
  const [row] = await tx`SELECT 1 FROM log_counters WHERE until_revision IS NULL LIMIT 1`;
  return row !== undefined;
}

/** The counters of alerts at a revision, whoever's they are. */
export function alertCountersAt(
  sql: Sql,
  revision: bigint,
): Promise<readonly { readonly counterId: number; readonly organizationId: number }[]> {
  return sql<{ counterId: number; organizationId: number }[]>`
    SELECT id::integer AS "counterId", organization_id AS "organizationId" FROM log_counters
    WHERE clock = 'alert' AND from_revision <= ${String(revision)}
      AND (until_revision IS NULL OR until_revision > ${String(revision)})
    ORDER BY id`;
}

/** Counters with a number above `after` whose past is to be counted, oldest first. */
export function duePasts(sql: Sql, after: number, max: number): Promise<readonly Counter[]> {
  return sql<Counter[]>`
    SELECT ${counterColumns(sql)} FROM log_counters WHERE past = 'due' AND until_revision IS NULL AND id > ${after}
    ORDER BY id LIMIT ${max}`;
}

/** Removes counters that have ended, once no seal under way counts by them any more, at most `limit`. */
export async function removeEndedCounters(sql: Sql, _nowMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    DELETE FROM log_counters WHERE id IN (
      SELECT id FROM log_counters c
      WHERE until_revision IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM ingest_streams s WHERE s.intent_revision < c.until_revision)
        AND NOT EXISTS (SELECT 1 FROM log_metrics m WHERE m.counter_id = c.id)
        AND NOT EXISTS (SELECT 1 FROM live_rule_counters r WHERE r.counter_id = c.id)
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`;
  return count;
}

/**
 * Whether there are counts of the past, or there never will be. Once there are, whoever looks at a counter of alerts looks from when it
 * was made on, whatever comes: of senders whose clocks are ahead there are entries of then and later already.
 */
export async function notePast(sql: Sql, id: number, past: "counted" | "failed"): Promise<void> {
  await sql`
    WITH noted AS (
      UPDATE log_counters c SET past = ${past} FROM (SELECT id, past FROM log_counters WHERE id = ${id} FOR UPDATE) before
      WHERE c.id = before.id RETURNING c.*, before.past AS past_before
    )
    INSERT INTO counter_changes (organization_id, counter_id, from_ms, to_ms)
    SELECT organization_id, id, made_ms, made_ms + ${FIRST_LOOK_MS}
    FROM noted, LATERAL (SELECT floor(extract(epoch FROM created_at) * 1000)::bigint AS made_ms) made
    WHERE clock = 'alert' AND past = 'counted' AND past_before <> 'counted'`;
}

/** A counter as it is stored. */
interface StoredCounter extends Counter {
  readonly past: "due" | "counted" | "failed";
  /** When it was made, in milliseconds since 1970. */
  readonly madeMs: number;
}

/** The counter, and whether what was before it is counted; null for one that there is not. */
export async function readCounterRow(sql: Sql, id: number): Promise<StoredCounter | null> {
  const [row] = await sql<StoredCounter[]>`
    SELECT ${counterColumns(sql)}, past, (extract(epoch FROM created_at) * 1000)::double precision AS "madeMs"
    FROM log_counters WHERE id = ${id}`;
  return row ?? null;
}
