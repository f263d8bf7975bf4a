import type { Sql, TransactionSql } from "postgres";
import { nextRevision } from "../../rules/counters/counter-store.ts";
import type { EntityType } from "../entity-key.ts";
import type { IndicatorType } from "./indicator-value.ts";

/** The statements about what is looked for and where it was found. */

/**
 * The indicator `i` of the value of each row of `given`, for a FROM: each is looked up by its key. A plain join reads all of a million
 * for some thousand values, or for a few while the table is new.
 */
export function indicatorOfGiven(tx: Sql | TransactionSql, organizationId: number) {
  return tx`LATERAL (
    SELECT * FROM iocs WHERE organization_id = ${organizationId} AND key = ioc_key(${organizationId}, given.value) LIMIT 1) AS i`;
}

/** A batch that seals do not look for yet, for indicators that are made while the organisation is locked; see `ioc_batches`. */
export async function beginBatch(tx: TransactionSql, organizationId: number): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    INSERT INTO ioc_batches (organization_id, hunted_through)
    VALUES (${organizationId}, (SELECT coalesce(max(id), 0) FROM iocs WHERE organization_id = ${organizationId}))
    RETURNING id::integer`;
  if (row === undefined) throw new Error("a batch was not made");
  return row.id;
}

/**
 * Seals look for the batch from the next one on, and what was found before is searched once. To be the last that a transaction
 * does: seals that begin wait for it.
 */
export async function activateBatch(
  tx: TransactionSql,
  organizationId: number,
  batchId: number,
): Promise<void> {
  const revision = await nextRevision(tx);
  await tx`
    UPDATE ioc_batches
    SET from_revision = ${revision},
        last_ioc_id = (SELECT coalesce(max(id), 0) FROM iocs WHERE organization_id = ${organizationId})
    WHERE organization_id = ${organizationId} AND id = ${batchId}`;
}

/** An indicator as it is looked for. */
interface ActiveIndicator {
  readonly id: number;
  readonly type: IndicatorType;
  readonly value: string;
  readonly feedId: number | null;
}

/** Whether the organisation looks for anything: most look for nothing. */
export async function isAnyLookedFor(sql: Sql, organizationId: number): Promise<boolean> {
  const [row] = await sql<{ is: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM iocs WHERE organization_id = ${organizationId}) AS is`;
  return row?.is === true;
}

/** Those of the values that the organisation looks for at that revision and time. Values are in their one spelling. */
export async function indicatorsAmong(
  sql: Sql,
  organizationId: number,
  values: readonly { readonly type: IndicatorType; readonly value: string }[],
  at: { readonly revision: bigint; readonly ms: number },
): Promise<ActiveIndicator[]> {
  if (values.length === 0) return [];
  return sql<ActiveIndicator[]>`
    SELECT i.id::integer, i.type, i.value, i.feed_id::integer AS "feedId"
    FROM unnest(${values.map(({ value }) => value)}::text[]) AS given (value), ${indicatorOfGiven(sql, organizationId)}
    WHERE (i.expires_at IS NULL OR i.expires_at > ${new Date(at.ms)})
      AND i.id <= (
        SELECT last_ioc_id FROM ioc_batches
        WHERE organization_id = ${organizationId} AND from_revision <= ${String(at.revision)} AND last_ioc_id IS NOT NULL
        ORDER BY from_revision DESC, id DESC LIMIT 1)`;
}

/** How long the prefixes are of the ranges that the organisation looks for or lets pass. */
export async function rangePrefixes(sql: Sql, organizationId: number): Promise<readonly number[]> {
  const rows = await sql<{ prefix_bits: number }[]>`
    SELECT DISTINCT prefix_bits FROM iocs WHERE organization_id = ${organizationId} AND prefix_bits IS NOT NULL`;
  return rows.map(({ prefix_bits }) => prefix_bits);
}

export async function allowedValues(
  sql: Sql,
  organizationId: number,
): Promise<{ readonly type: IndicatorType; readonly value: string }[]> {
  return sql<{ type: IndicatorType; value: string }[]>`
    SELECT type, value FROM ioc_allow_list WHERE organization_id = ${organizationId}`;
}

/** Where an indicator was found, and how often; times are milliseconds since 1970. */
export interface IndicatorHit {
  readonly indicatorId: number;
  readonly feedId: number | null;
  readonly entityType: EntityType;
  readonly entityKey: string;
  readonly found: string;
  readonly n: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly sampleId: string;
}

/**
 * An entry may hold several values that are one indicator's: names in its domain, addresses of its range. What was found in one place as
 * often, from the same time to the same time and last in the same entry was found in the same entries, which are hits once.
 */
function ofEntriesOnce(hits: readonly IndicatorHit[]): IndicatorHit[] {
  const once = new Map<string, IndicatorHit>();
  for (const hit of hits) {
    const { indicatorId, entityType, entityKey, found, n, firstMs, lastMs, sampleId } = hit;
    const entries = [indicatorId, entityType, entityKey, n, firstMs, lastMs, sampleId].join("\0");
    const known = once.get(entries);
    if (known === undefined || found < known.found) once.set(entries, hit);
  }
  return [...once.values()];
}

/**
 * Adds hits to what is known of the indicators, once for each call: whoever calls makes sure of that. Hits of an indicator that
 * was deleted meanwhile are nobody's.
 */
export async function addHits(
  tx: TransactionSql,
  organizationId: number,
  hits: readonly IndicatorHit[],
  { nowMs, againMs }: { readonly nowMs: number; readonly againMs: number },
): Promise<void> {
  if (hits.length === 0) return;
  const rows = ofEntriesOnce(hits).toSorted(
    (a, b) =>
      a.indicatorId - b.indicatorId ||
      (`${a.entityType}\0${a.entityKey}` < `${b.entityType}\0${b.entityKey}` ? -1 : 1),
  );
  const given = tx`
    unnest(${rows.map(({ indicatorId }) => indicatorId)}::bigint[], ${rows.map(({ entityType }) => entityType)}::text[],
           ${rows.map(({ entityKey }) => entityKey)}::text[], ${rows.map(({ found }) => found)}::text[],
           ${rows.map(({ n }) => n)}::bigint[], ${rows.map(({ firstMs }) => firstMs)}::double precision[],
           ${rows.map(({ lastMs }) => lastMs)}::double precision[], ${rows.map(({ sampleId }) => sampleId)}::text[])
      AS given (ioc_id, entity_type, entity_key, found, n, first_ms, last_ms, sample_id)`;
  await tx`
    WITH summed AS (
      SELECT ioc_id, sum(n) AS n, min(first_ms) AS first_ms, max(last_ms) AS last_ms FROM ${given} GROUP BY ioc_id
    ), known AS (
      SELECT i.id FROM iocs i JOIN summed s ON s.ioc_id = i.id
      WHERE i.organization_id = ${organizationId} ORDER BY i.id FOR UPDATE OF i
    )
    UPDATE iocs i SET hits = i.hits + s.n,
      first_hit_at = least(i.first_hit_at, to_timestamp(s.first_ms / 1000.0)),
      last_hit_at = greatest(i.last_hit_at, to_timestamp(s.last_ms / 1000.0))
    FROM summed s WHERE i.organization_id = ${organizationId} AND i.id = s.ioc_id AND i.id IN (SELECT id FROM known)`;
  const now = new Date(nowMs);
  await tx`
    INSERT INTO ioc_hits AS known
      (ioc_id, organization_id, entity_type, entity_key, found, n, first_at, last_at, sample_id, is_due)
    SELECT given.ioc_id, i.organization_id, given.entity_type, given.entity_key, min(given.found), sum(given.n),
           to_timestamp(min(given.first_ms) / 1000.0), to_timestamp(max(given.last_ms) / 1000.0), min(given.sample_id), true
    FROM ${given} JOIN iocs i ON i.id = given.ioc_id AND i.organization_id = ${organizationId}
    GROUP BY given.ioc_id, i.organization_id, given.entity_type, given.entity_key
    ON CONFLICT (ioc_id, entity_type, entity_key) DO UPDATE
    SET n = known.n + excluded.n, first_at = least(known.first_at, excluded.first_at),
        last_at = greatest(known.last_at, excluded.last_at), sample_id = excluded.sample_id,
        is_due = known.is_due OR known.told_at < ${new Date(nowMs - againMs)}`;
  await tx`
    INSERT INTO ioc_hit_hours AS known (organization_id, feed_id, hour, n)
    SELECT i.organization_id, coalesce(i.feed_id, 0), date_trunc('hour', ${now}::timestamptz), sum(given.n)
    FROM ${given} JOIN iocs i ON i.id = given.ioc_id AND i.organization_id = ${organizationId}
    GROUP BY i.organization_id, coalesce(i.feed_id, 0)
    ON CONFLICT (organization_id, feed_id, hour) DO UPDATE SET n = known.n + excluded.n`;
}
