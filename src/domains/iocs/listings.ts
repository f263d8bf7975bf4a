import type { PendingQuery, Row, Sql, TransactionSql } from "postgres";
import { LISTING_CHUNK_IDS } from "../../entities/indicators/limits.ts";

/**
 * The statements about which feed lists what; see `ioc_feed_listings`. What was just written has no statistics yet, or wrong ones: they
 * group what is large, or join it by hashes (`linearly`), so that they are linear whatever the planner thinks.
 */

/** Behind every id that a listing has. */
const ID_MAX = 2 ** 31;

interface Listing {
  readonly organizationId: number;
  readonly feedId: number;
}

/** An indicator that a feed lists, and until when it says that it lasts, where it says so. */
export interface Listed {
  readonly id: number;
  readonly until: string | null;
}

/** Writes down that a feed lists indicators: rows that say so already are not written again. */
export async function noteListed(
  tx: TransactionSql,
  { organizationId, feedId }: Listing,
  listed: readonly Listed[],
): Promise<void> {
  await tx`
    WITH given AS (
      SELECT id / ${LISTING_CHUNK_IDS}::integer AS chunk, id % ${LISTING_CHUNK_IDS}::integer AS place, until::timestamptz AS until
      FROM unnest(${listed.map(({ id }) => id)}::integer[], ${listed.map(({ until }) => until)}::text[]) AS given (id, until)
    ), merged AS (
      SELECT chunk, place, CASE WHEN bool_or(is_given) THEN max(until) FILTER (WHERE is_given) ELSE max(until) END AS until
      FROM (
        SELECT chunk, place, until, true AS is_given FROM given
        UNION ALL
        SELECT known.chunk, old.place, old.until, false
        FROM ioc_feed_listings known, unnest(known.listed, known.until) AS old (place, until)
        WHERE known.feed_id = ${feedId} AND known.chunk = ANY(${chunksOf(listed)}::integer[])
      ) AS each (chunk, place, until, is_given)
      GROUP BY chunk, place
    )
    INSERT INTO ioc_feed_listings AS known (feed_id, chunk, organization_id, listed, until)
    SELECT ${feedId}::bigint, chunk, ${organizationId}::integer, array_agg(place ORDER BY place),
           CASE WHEN bool_or(until IS NOT NULL) THEN array_agg(until ORDER BY place) END
    FROM merged GROUP BY chunk
    ON CONFLICT (feed_id, chunk) DO UPDATE
    SET listed = excluded.listed, until = excluded.until,
        gone = ARRAY(SELECT unnest(known.gone) EXCEPT SELECT unnest(excluded.listed))
    WHERE (known.listed, known.until) IS DISTINCT FROM (excluded.listed, excluded.until)`;
}

/** Indicators that are listed again last as long as the feed of those that list them says it longest. */
export async function lastAsListed(
  tx: TransactionSql,
  { organizationId, feedId }: Listing,
  listed: readonly Listed[],
): Promise<void> {
  if (listed.length === 0) return;
  const given = tx`
    SELECT id / ${LISTING_CHUNK_IDS}::integer AS chunk, id % ${LISTING_CHUNK_IDS}::integer AS place,
           coalesce(until::timestamptz, 'infinity') AS until
    FROM unnest(${listed.map(({ id }) => id)}::integer[], ${listed.map(({ until }) => until)}::text[]) AS given (id, until)`;
  const chunks = tx`SELECT unnest(${chunksOf(listed)}::integer[])`;
  await linearly(
    tx,
    tx`
      WITH lasting AS (${withOthers(tx, { organizationId, feedId }, given, chunks)})
      UPDATE iocs i SET expires_at = nullif(lasting.until, 'infinity')
      FROM lasting
      WHERE i.organization_id = ${organizationId} AND i.id = lasting.id AND NOT i.by_person
        AND coalesce(i.expires_at, 'infinity') <> lasting.until`,
  );
}

/** Ids from the one to before the other. */
interface IdSpan {
  readonly from: number;
  readonly to: number;
}

/** Where the ids are that a feed lists, in spans of so many chunks, in ascending order. */
export async function listedSpans(
  sql: Sql,
  { organizationId, feedId }: Listing,
  chunks: number,
): Promise<readonly IdSpan[]> {
  return sql<IdSpan[]>`
    SELECT (min(chunk) * ${LISTING_CHUNK_IDS}::bigint)::float8 AS from, ((max(chunk) + 1) * ${LISTING_CHUNK_IDS}::bigint)::float8 AS to
    FROM (
      SELECT chunk, (row_number() OVER (ORDER BY chunk) - 1) / ${chunks}::integer AS span
      FROM ioc_feed_listings WHERE organization_id = ${organizationId} AND feed_id = ${feedId}
    ) AS each
    GROUP BY span ORDER BY span`;
}

/**
 * Expires what a feed listed and no other lists, unless a person vouches for it; how many that were. `listed` are the ids of what it
 * lists still, each once. All of it, or a span of ids, of which `listed` are then.
 */
export async function expireUnlisted(
  tx: TransactionSql,
  { organizationId, feedId }: Listing,
  listed: Int32Array,
  nowMs: number,
  span: IdSpan = { from: 0, to: ID_MAX },
): Promise<number> {
  const inSpan = tx`known.chunk >= ${span.from / LISTING_CHUNK_IDS}::float8 AND known.chunk < ${span.to / LISTING_CHUNK_IDS}::float8`;
  const [known] = await tx<{ n: number }[]>`
    SELECT coalesce(sum(cardinality(listed)), 0)::integer AS n FROM ioc_feed_listings known WHERE feed_id = ${feedId} AND ${inSpan}`;
  // All of it is known to be listed, so that as many are the same.
  if (known === undefined || known.n === listed.length) return 0;
  const now = new Date(nowMs);
  const gone = tx`SELECT changed.chunk, place, NULL::timestamptz FROM changed, unnest(changed.gone) AS place`;
  const expiry = tx<{ expired: number }[]>`
    WITH still AS (
      SELECT chunk, place, max(until) AS until, bool_or(is_listed) AS is_listed FROM (
        SELECT known.chunk, old.place, old.until, false
        FROM ioc_feed_listings known, unnest(known.listed, known.until) AS old (place, until)
        WHERE known.feed_id = ${feedId} AND ${inSpan}
        UNION ALL
        SELECT id / ${LISTING_CHUNK_IDS}::integer, id % ${LISTING_CHUNK_IDS}::integer, NULL, true FROM unnest(${[...listed]}::integer[]) AS id
      ) AS each (chunk, place, until, is_listed)
      -- What was deleted meanwhile is in no list.
      GROUP BY chunk, place HAVING NOT bool_and(is_listed)
    ), changed AS (
      UPDATE ioc_feed_listings known
      SET listed = left_over.listed, until = left_over.until, gone = known.gone || left_over.gone
      FROM (
        SELECT chunk, coalesce(array_agg(place ORDER BY place) FILTER (WHERE is_listed), '{}')::smallint[] AS listed,
          CASE WHEN bool_or(is_listed AND until IS NOT NULL)
            THEN array_agg(until ORDER BY place) FILTER (WHERE is_listed) END AS until,
          (array_agg(place) FILTER (WHERE NOT is_listed))::smallint[] AS gone
        FROM still GROUP BY chunk HAVING NOT bool_and(is_listed)
      ) left_over
      WHERE known.feed_id = ${feedId} AND known.chunk = left_over.chunk
      RETURNING known.chunk, left_over.gone
    ), lasting AS (
      ${withOthers(tx, { organizationId, feedId }, gone, tx`SELECT chunk FROM changed`)}
    ), ended AS (
      UPDATE iocs i
      SET expires_at = nullif(coalesce(lasting.until, least(i.expires_at, ${now}::timestamptz)), 'infinity')
      FROM lasting
      WHERE i.organization_id = ${organizationId} AND i.id = lasting.id AND NOT i.by_person
        AND coalesce(i.expires_at, 'infinity') <> coalesce(lasting.until, least(i.expires_at, ${now}::timestamptz))
      RETURNING i.expires_at
    )
    SELECT count(*) FILTER (WHERE expires_at <= ${now}::timestamptz)::integer AS expired FROM ended`;
  const [row] = await linearly(tx, expiry);
  return row?.expired ?? 0;
}

/** A feed that is deleted and of which there are lists still; null where there is none. */
export async function findDeletedFeed(sql: Sql): Promise<Listing | null> {
  const [listing] = await sql<Listing[]>`
    SELECT l.organization_id AS "organizationId", l.feed_id::integer AS "feedId"
    FROM ioc_feed_listings l LEFT JOIN ioc_feeds f ON f.id = l.feed_id
    WHERE f.id IS NULL LIMIT 1`;
  return listing ?? null;
}

/** Forgets the first so many chunks of what a deleted feed listed, as if each of its indicators had vanished from it. */
export async function forgetDeletedFeed(
  tx: TransactionSql,
  { organizationId, feedId }: Listing,
  chunks: number,
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs);
  const own = tx`
    SELECT ctid FROM ioc_feed_listings WHERE organization_id = ${organizationId} AND feed_id = ${feedId} ORDER BY chunk LIMIT ${chunks}`;
  const left = tx`
    SELECT gone.chunk, old.place, NULL::timestamptz FROM gone, unnest(gone.listed || gone.gone) AS old (place)`;
  const forgetting = tx`
    WITH gone AS (
      DELETE FROM ioc_feed_listings WHERE ctid IN (${own}) RETURNING chunk, listed, gone
    ), lasting AS (
      ${withOthers(tx, { organizationId, feedId }, left, tx`SELECT chunk FROM gone`)}
    )
    UPDATE iocs i
    SET feed_id = nullif(i.feed_id, ${feedId}),
        expires_at = CASE WHEN i.by_person THEN i.expires_at
          ELSE nullif(coalesce(lasting.until, least(i.expires_at, ${now}::timestamptz)), 'infinity') END
    FROM lasting
    WHERE i.organization_id = ${organizationId} AND i.id = lasting.id
      AND (i.feed_id = ${feedId} OR NOT i.by_person
        AND coalesce(i.expires_at, 'infinity') <> coalesce(lasting.until, least(i.expires_at, ${now}::timestamptz)))`;
  await linearly(tx, forgetting);
}

/** Runs a statement whose joins are not to go through one side for each row of the other. */
async function linearly<R extends readonly (object | undefined)[]>(
  tx: TransactionSql,
  statement: PendingQuery<R & Row[]>,
) {
  await tx`SET LOCAL enable_nestloop = off`;
  const rows = await statement;
  await tx`SET LOCAL enable_nestloop = on`;
  return rows;
}

/** Takes an indicator that is deleted out of every list. */
export async function forgetListed(tx: TransactionSql, organizationId: number, id: number): Promise<void> {
  const place = id % LISTING_CHUNK_IDS;
  await tx`
    UPDATE ioc_feed_listings known
    SET listed = array_remove(known.listed, ${place}::smallint), gone = array_remove(known.gone, ${place}::smallint),
        until = CASE WHEN known.until IS NOT NULL THEN ARRAY(
          SELECT old.until FROM unnest(known.listed, known.until) AS old (place, until)
          WHERE old.place <> ${place} ORDER BY old.place) END
    WHERE known.organization_id = ${organizationId} AND known.chunk = ${Math.floor(id / LISTING_CHUNK_IDS)}
      AND (${place} = ANY(known.listed) OR ${place} = ANY(known.gone))`;
}

/** Of each feed, how many indicators it lists or has listed, and how many of them were found. */
export function foundByFeed(
  tx: TransactionSql,
  organizationId: number,
): PendingQuery<{ feedId: number; listed: number; found: number }[]> {
  return tx<{ feedId: number; listed: number; found: number }[]>`
    WITH found AS (
      SELECT id / ${LISTING_CHUNK_IDS}::integer AS chunk, array_agg((id % ${LISTING_CHUNK_IDS}::integer)::smallint) AS places
      FROM iocs WHERE organization_id = ${organizationId} AND hits > 0 GROUP BY 1
    )
    SELECT l.feed_id::integer AS "feedId", sum(cardinality(l.listed) + cardinality(l.gone))::integer AS listed,
      coalesce(sum((SELECT count(*) FROM (
        SELECT unnest(l.listed || l.gone) INTERSECT SELECT unnest(found.places)) AS of_both)), 0)::integer AS found
    FROM ioc_feed_listings l LEFT JOIN found ON found.chunk = l.chunk
    WHERE l.organization_id = ${organizationId} GROUP BY l.feed_id`;
}

/**
 * Rows of `chunk`, `place` and `until` as ids with the latest of that and what other feeds say of them: null where neither says
 * anything. `chunks` are those of the rows.
 */
function withOthers(
  tx: TransactionSql,
  { organizationId, feedId }: Listing,
  rows: PendingQuery<Row[]>,
  chunks: PendingQuery<Row[]>,
) {
  return tx`
    SELECT chunk * ${LISTING_CHUNK_IDS}::bigint + place AS id, max(until) AS until FROM (
      SELECT own.chunk, own.place, own.until, true FROM (${rows}) AS own (chunk, place, until)
      UNION ALL
      SELECT other.chunk, theirs.place, coalesce(theirs.until, 'infinity'), false
      FROM ioc_feed_listings other, unnest(other.listed, other.until) AS theirs (place, until)
      WHERE other.organization_id = ${organizationId} AND other.feed_id <> ${feedId} AND other.chunk IN (${chunks})
    ) AS each (chunk, place, until, is_own)
    GROUP BY chunk, place HAVING bool_or(is_own)`;
}

function chunksOf(listed: readonly Listed[]): number[] {
  return [...new Set(listed.map(({ id }) => Math.floor(id / LISTING_CHUNK_IDS)))];
}
