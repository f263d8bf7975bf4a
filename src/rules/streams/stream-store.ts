import type { Sql, TransactionSql } from "postgres";
import type { MadeSpan } from "../../../query/index.ts";
import { STREAM_LEASE_MS } from "../../storage/instance/limits.ts";

/** How seldom it is noted how far an idle stream is. */
const THROUGH_EVERY_MS = 30_000;
const SILENT_MAX_MS = 600_000;
/** A server that comes back later than this with entries that nobody has stored brings them uncounted. */
const STREAM_KEPT_MS = 90 * 86_400_000;

/** The queries about streams of entries and how far they are sealed. Ids travel as text: they have 64 bits. */

/** A stream that this server may seal. */
export interface OpenStream {
  readonly id: number;
  readonly instance: number;
  readonly firstId: bigint;
  /** The last id that the stream can have; null while no other has followed with the same number. */
  readonly lastId: bigint | null;
  readonly sealedId: bigint;
  /** A seal that was begun. */
  readonly intent: Intent | null;
  /** This start of the server makes it. */
  readonly isOwn: boolean;
  /** It was made by an earlier start on the same data directory: what is left of it comes from the log of this server. */
  readonly isFormer: boolean;
}

export interface Intent {
  readonly to: bigint;
  /** The counters that it counts by. */
  readonly revision: bigint;
}

/** Who seals. */
export interface Sealing {
  /** This start of the server. */
  readonly holder: string;
  readonly place: string | null;
}

interface StreamRow {
  readonly id: number;
  readonly instance: number;
  readonly firstId: string;
  readonly nextId: string | null;
  readonly sealedId: string;
  readonly intentTo: string | null;
  readonly intentRevision: string | null;
  readonly isOwn: boolean;
  readonly isFormer: boolean;
}

/**
 * Takes or keeps the streams that are this server's to seal, and answers them: its own, and those that nobody has sealed for
 * a while. Nothing is written while all leases are young.
 */
export async function takeStreams(
  sql: Sql,
  { holder, place }: Sealing,
  max: number,
): Promise<readonly OpenStream[]> {
  const lease = sql.unsafe(`interval '${STREAM_LEASE_MS} milliseconds'`);
  await sql`
    WITH due AS (
      SELECT id FROM ingest_streams
      WHERE NOT ended AND CASE WHEN sealer = ${holder} THEN lease_until < now() + ${lease} / 2
                               ELSE place = ${place} OR lease_until <= now() END
      ORDER BY id LIMIT ${max}
      FOR UPDATE SKIP LOCKED
    )
    UPDATE ingest_streams s SET sealer = ${holder}, lease_until = now() + ${lease} FROM due WHERE s.id = due.id`;
  const rows = await sql<StreamRow[]>`
    SELECT s.id::integer, s.instance, s.first_id::text AS "firstId", s.sealed_id::text AS "sealedId",
      (SELECT min(n.first_id) FROM ingest_streams n
       WHERE n.instance = s.instance AND n.first_id > s.first_id)::text AS "nextId",
      s.intent_to::text AS "intentTo", s.intent_revision::text AS "intentRevision",
      s.holder = ${holder} AS "isOwn",
      s.holder <> ${holder} AND s.place IS NOT DISTINCT FROM ${place} AND s.place IS NOT NULL AS "isFormer"
    FROM ingest_streams s
    WHERE NOT s.ended AND s.sealer = ${holder} AND s.lease_until > now()
    ORDER BY s.holder = ${holder} DESC, s.id
    LIMIT ${max}`;
  return rows.map(streamOf);
}

/** Streams of which it is not known that they are sealed up to a moment, those furthest behind first, at most `max`. */
export async function streamsBehind(
  sql: Sql,
  throughMs: number,
  max: number,
): Promise<readonly Pick<OpenStream, "instance" | "sealedId" | "lastId">[]> {
  const rows = await sql<{ instance: number; sealedId: string; nextId: string | null }[]>`
    SELECT s.instance, s.sealed_id::text AS "sealedId",
      (SELECT min(n.first_id) FROM ingest_streams n
       WHERE n.instance = s.instance AND n.first_id > s.first_id)::text AS "nextId"
    FROM ingest_streams s
    WHERE NOT s.ended AND coalesce(s.through, s.created_at) < ${new Date(throughMs)}
    ORDER BY s.sealed_id LIMIT ${max}`;
  return rows.map(({ instance, sealedId, nextId }) => ({
    ...{ instance, sealedId: BigInt(sealedId) },
    lastId: nextId === null ? null : BigInt(nextId) - 1n,
  }));
}

function streamOf(row: StreamRow): OpenStream {
  const { id, instance, nextId, intentTo, intentRevision, isOwn, isFormer } = row;
  return {
    ...{ id, instance, isOwn, isFormer },
    firstId: BigInt(row.firstId),
    lastId: nextId === null ? null : BigInt(nextId) - 1n,
    sealedId: BigInt(row.sealedId),
    intent:
      intentTo === null || intentRevision === null
        ? null
        : { to: BigInt(intentTo), revision: BigInt(intentRevision) },
  };
}

/**
 * Notes that the stream is about to be sealed up to an id, by the counters that there are at this moment; null when it is
 * another's by now.
 */
export function beginSeal(
  sql: Sql,
  { id, sealedId }: OpenStream,
  to: bigint,
  { holder }: Sealing,
): Promise<Intent | null> {
  return sql.begin(async (tx) => {
    // Whoever makes a counter meanwhile waits, or has ended.
    const [current] = await tx<{ revision: string }[]>`
      SELECT revision::text FROM counter_revisions FOR SHARE`;
    if (current === undefined) throw new Error("there is no revision of counters");
    const begun = await tx`
      UPDATE ingest_streams SET intent_to = ${String(to)}, intent_revision = ${current.revision}
      WHERE id = ${id} AND sealer = ${holder} AND sealed_id = ${String(sealedId)} AND intent_to IS NULL`;
    return begun.count === 0 ? null : { to, revision: BigInt(current.revision) };
  });
}

/**
 * Where nobody looks for anything: the stream is sealed up to an id, and nothing is asked. False where something is wanted,
 * which is asked while whoever would want it waits.
 */
export function sealUnwanted(
  sql: Sql,
  { id, sealedId }: OpenStream,
  to: bigint,
  { holder }: Sealing,
  isWanted: (tx: TransactionSql) => Promise<boolean>,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    await tx`SELECT revision FROM counter_revisions FOR SHARE`;
    if (await isWanted(tx)) return false;
    const sealed = await tx`
      UPDATE ingest_streams SET sealed_id = ${String(to)}
      WHERE id = ${id} AND sealer = ${holder} AND sealed_id = ${String(sealedId)} AND intent_to IS NULL`;
    return sealed.count > 0;
  });
}

/** Buckets of a counter that got entries: milliseconds since 1970, the end excluded. */
export interface CounterChange {
  readonly counterId: number;
  readonly organizationId: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The seal is done: what was begun is over, and what follows of it is noted. */
export async function endSeal(
  sql: Sql,
  { id }: OpenStream,
  { to }: Intent,
  {
    throughMs,
    notes,
  }: {
    readonly throughMs: number;
    readonly notes: readonly ((tx: TransactionSql) => Promise<void>)[];
  },
): Promise<void> {
  await sql.begin(async (tx) => {
    const ended = await tx`
      UPDATE ingest_streams
      SET sealed_id = intent_to, intent_to = NULL, intent_revision = NULL,
          through = greatest(through, ${new Date(throughMs)})
      WHERE id = ${id} AND intent_to = ${String(to)}`;
    if (ended.count === 0) return;
    for (const note of notes) await note(tx);
  });
}

/** Whoever looks at the counters is told which of their buckets got entries. */
export async function noteChanges(tx: TransactionSql, changes: readonly CounterChange[]): Promise<void> {
  // An organisation that was deleted meanwhile took its counters along.
  await tx`
    INSERT INTO counter_changes (organization_id, counter_id, from_ms, to_ms)
    SELECT c.organization_id, c.id, given.from_ms, given.to_ms
    FROM unnest(${changes.map(({ counterId }) => counterId)}::bigint[],
                ${changes.map(({ fromMs }) => String(fromMs))}::bigint[],
                ${changes.map(({ toMs }) => String(toMs))}::bigint[]) AS given (counter_id, from_ms, to_ms)
    JOIN log_counters c ON c.id = given.counter_id`;
}

/** Everything is sealed that the stream's server had taken by then. Written seldom, but where a rule waits for it. */
export async function noteThrough(sql: Sql, { id }: OpenStream, throughMs: number): Promise<void> {
  const through = new Date(throughMs);
  await sql`
    UPDATE ingest_streams SET through = ${through}
    WHERE id = ${id} AND NOT ended AND (
      through IS NULL OR through < ${new Date(throughMs - THROUGH_EVERY_MS)}
      OR (through < ${through} AND EXISTS (SELECT 1 FROM rule_groups WHERE wake_at <= ${through})))`;
}

/**
 * The moment, milliseconds since 1970, up to which everything is sealed that any living server had taken; null while nothing
 * is known. One of which nothing was heard for ten minutes holds up nobody.
 */
export async function sealedEverywhere(sql: Sql): Promise<number | null> {
  const silence = sql.unsafe(`interval '${SILENT_MAX_MS} milliseconds'`);
  const [row] = await sql<{ through: Date | null }[]>`
    SELECT min(coalesce(through, created_at)) AS through FROM ingest_streams
    WHERE NOT ended AND coalesce(through, created_at) > now() - ${silence}`;
  return row?.through?.getTime() ?? null;
}

/** Nothing will be added to it any more. */
export async function endStream(sql: Sql, { id, sealedId }: OpenStream): Promise<void> {
  await sql`
    UPDATE ingest_streams SET ended = true
    WHERE id = ${id} AND intent_to IS NULL AND sealed_id = ${String(sealedId)}`;
}

/**
 * Where a counter begins that is made in this transaction, which holds the revision: for each open stream the last id
 * that it does not count, and as `last` the stream after which all are counted whole.
 */
export async function currentMarks(tx: TransactionSql): Promise<Record<string, string>> {
  const rows = await tx<{ id: string; mark: string }[]>`
    SELECT id::text, coalesce(intent_to, sealed_id)::text AS mark FROM ingest_streams WHERE NOT ended
    UNION ALL
    SELECT 'last', coalesce(max(id), 0)::text FROM ingest_streams`;
  return Object.fromEntries(rows.map(({ id, mark }) => [id, mark]));
}

/** Entries of a stream that a counter counts as they are stored. */
interface CountedSpan extends MadeSpan {
  readonly streamId: number;
}

/**
 * All entries that seals have counted or will for a counter: what came to open streams behind its marks, and streams that
 * began later. With `open` those of open streams alone: of the others everything is counted.
 */
export async function countedSpans(
  sql: Sql,
  counterId: number,
  which: "open" | "all",
): Promise<readonly CountedSpan[]> {
  const rows = await sql<{ id: number; instance: number; after: string; nextId: string | null }[]>`
    SELECT s.id::integer, s.instance,
      coalesce((c.starts ->> s.id::text)::bigint, s.first_id - 1)::text AS after,
      (SELECT min(n.first_id) FROM ingest_streams n
       WHERE n.instance = s.instance AND n.first_id > s.first_id)::text AS "nextId"
    FROM log_counters c JOIN ingest_streams s
      ON jsonb_exists(c.starts, s.id::text) OR s.id > (c.starts ->> 'last')::bigint
    WHERE c.id = ${counterId} AND (${which === "all"} OR NOT s.ended)
    ORDER BY s.id`;
  return rows.map(({ id, instance, after, nextId }) => ({
    ...{ streamId: id, instance },
    after: BigInt(after),
    through: nextId === null ? null : BigInt(nextId) - 1n,
  }));
}

/**
 * Gives up streams of servers that were not heard of for months, sealed as far as they are stored, and removes those that ended
 * long ago, at most `limit`. One that tells where an older stream of its number ends is kept as long as that one.
 */
export async function removeOldStreams(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const longAgo = new Date(nowMs - STREAM_KEPT_MS);
  await sql`
    UPDATE ingest_streams SET ended = true
    WHERE NOT ended AND intent_to IS NULL AND coalesce(through, created_at) < ${longAgo}`;
  const { count } = await sql`
    DELETE FROM ingest_streams WHERE id IN (
      SELECT id FROM ingest_streams s
      WHERE ended AND coalesce(through, created_at) < ${longAgo}
        AND NOT EXISTS (SELECT 1 FROM ingest_streams o WHERE o.instance = s.instance AND o.id < s.id AND NOT o.ended)
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED)`;
  return count;
}
