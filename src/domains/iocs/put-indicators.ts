import type { TransactionSql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { activateBatch, beginBatch, indicatorOfGiven } from "../../entities/indicators/indicator-store.ts";
import { IOCS_MAX, STATEMENT_MAX_INDICATORS } from "../../entities/indicators/limits.ts";
import { ApiError } from "../../errors.ts";
import type { Severity } from "../../problems/events.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import { type Listed, lastAsListed, noteListed } from "./listings.ts";
import type { FileIndicator } from "./read-row.ts";

/** A feed that brings indicators: of what a person made or confirmed it changes nothing. */
interface Bringing {
  readonly id: number;
  readonly name: string;
  readonly severity: Severity | null;
}

/**
 * Writes indicators, new ones and what is said anew of known ones; of a feed it answers the ids of all. Throws CONFLICT when there
 * would be too many.
 */
export async function putIndicators(
  change: Change,
  indicators: readonly FileIndicator[],
  feed: Bringing | null,
): Promise<{ added: number; updated: number; ids: readonly number[] }> {
  const { tx, organizationId } = change;
  await lockOrganization(tx, organizationId);
  const batchId = await beginBatch(tx, organizationId);
  let [added, updated] = [0, 0];
  const listed: Listed[] = [];
  const renewed: Listed[] = [];
  for (let from = 0; from < indicators.length; from += STATEMENT_MAX_INDICATORS) {
    const some = indicators.slice(from, from + STATEMENT_MAX_INDICATORS);
    if (feed === null) {
      const written = (await upsert(change, some, null)).filter(({ isNew }) => isNew).length;
      added += written;
      updated += some.length - written;
      continue;
    }
    const brought = await bring(change, some, feed);
    added += brought.added;
    updated += brought.updated;
    for (const each of brought.listed) listed.push(each);
    for (const each of brought.renewed) renewed.push(each);
  }
  if (feed !== null) {
    const listing = { organizationId, feedId: feed.id };
    await lastAsListed(tx, listing, renewed);
    await noteListed(tx, listing, listed);
  }
  const [row] = await tx<{ n: number }[]>`
    SELECT count(*)::integer AS n FROM iocs WHERE organization_id = ${organizationId}`;
  if ((row?.n ?? 0) > IOCS_MAX)
    throw new ApiError("CONFLICT", `${IOCS_MAX} is the most of this kind (IOC); delete some first.`);
  if (added > 0) await activateBatch(tx, organizationId, batchId);
  else await tx`DELETE FROM ioc_batches WHERE organization_id = ${organizationId} AND id = ${batchId}`;
  return { added, updated, ids: listed.map(({ id }) => id) };
}

/**
 * What a feed brings: a list of a million is read every hour, so that what says the same again is not written again. What the feed says
 * of all its indicators it says of those that it brought first, so that two feeds do not change the same ones in turn.
 */
async function bring(change: Change, some: readonly FileIndicator[], feed: Bringing) {
  const { tx, organizationId } = change;
  const known = await tx<
    { place: number; id: number; byPerson: boolean; isOwn: boolean; isEnding: boolean; isSame: boolean }[]
  >`
    SELECT given.place::integer, i.id::integer, i.by_person AS "byPerson", coalesce(i.feed_id = ${feed.id}, true) AS "isOwn",
      i.expires_at IS NOT NULL AS "isEnding",
      i.feed_id IS NOT NULL AND (
        coalesce(given.severity, CASE WHEN i.feed_id = ${feed.id} THEN ${feed.severity}::text END, i.severity),
        coalesce(given.description, i.description), coalesce(given.confidence, i.confidence),
        coalesce(given.source, CASE WHEN i.feed_id = ${feed.id} THEN ${feed.name}::text END, i.source))
      IS NOT DISTINCT FROM (i.severity, i.description, i.confidence, i.source) AS "isSame"
    FROM (${givenRows(tx, some)}) AS given, ${indicatorOfGiven(tx, organizationId)}`;
  const byPlace = new Map(known.map((row) => [row.place, row]));
  const writable = some.flatMap((indicator, i) => {
    const row = byPlace.get(i + 1);
    if (row?.byPerson === true || row?.isSame === true) return [];
    if (row?.isOwn === false) return indicator;
    const { severity, source } = indicator;
    return { ...indicator, severity: severity ?? feed.severity, source: source ?? feed.name };
  });
  const written = await upsert(change, writable, feed);
  const made = new Map(written.flatMap(({ id, value, isNew }) => (isNew ? [[value, id] as const] : [])));
  const listed = some.flatMap(({ value, expiresAt: until }, i) => {
    const id = byPlace.get(i + 1)?.id ?? made.get(value);
    return id === undefined ? [] : { id, until };
  });
  // What is new lasts as it was written.
  const renewed = some.flatMap(({ expiresAt: until }, i) => {
    const row = byPlace.get(i + 1);
    return row === undefined || row.byPerson || !(row.isEnding || until !== null)
      ? []
      : { id: row.id, until };
  });
  const updated = known.filter(({ byPerson }) => !byPerson).length;
  return { added: made.size, updated, listed, renewed };
}

async function upsert(
  { tx, organizationId, nowMs }: Change,
  some: readonly FileIndicator[],
  feed: Bringing | null,
): Promise<readonly { id: number; value: string; isNew: boolean }[]> {
  if (some.length === 0) return [];
  const now = new Date(nowMs);
  return tx<{ id: number; value: string; isNew: boolean }[]>`
    INSERT INTO iocs AS known (organization_id, type, value, prefix_bits, severity, description, expires_at, confidence, source,
                               feed_id, by_person, created_at, updated_at)
    SELECT ${organizationId}::integer, type, value, prefix_bits, severity, description, expires_at::timestamptz, confidence, source,
           ${feed?.id ?? null}::bigint, ${feed === null}, ${now}::timestamptz, ${now}::timestamptz
    FROM (${givenRows(tx, some)}) AS given ORDER BY place
    ON CONFLICT (key) DO UPDATE
    SET severity = coalesce(excluded.severity, known.severity), description = coalesce(excluded.description, known.description),
        expires_at = CASE WHEN excluded.by_person THEN excluded.expires_at ELSE known.expires_at END,
        confidence = coalesce(excluded.confidence, known.confidence), source = coalesce(excluded.source, known.source),
        feed_id = coalesce(known.feed_id, excluded.feed_id), by_person = excluded.by_person, updated_at = excluded.updated_at
    WHERE excluded.by_person OR NOT known.by_person
    RETURNING id::integer, value, (xmax = 0) AS "isNew"`;
}

/** Indicators as rows with their place from 1. */
function givenRows(tx: TransactionSql, some: readonly FileIndicator[]) {
  const texts = (of: (indicator: FileIndicator) => string | null) => tx`${some.map(of)}::text[]`;
  return tx`
    SELECT * FROM unnest(${texts(({ type }) => type)}, ${texts(({ value }) => value)},
                ${some.map(({ prefixBits }) => prefixBits)}::smallint[], ${texts(({ severity }) => severity)},
                ${texts(({ description }) => description)}, ${texts(({ expiresAt }) => expiresAt)},
                ${some.map(({ confidence }) => confidence)}::smallint[], ${texts(({ source }) => source)})
      WITH ORDINALITY AS row (type, value, prefix_bits, severity, description, expires_at, confidence, source, place)`;
}

/** What `putIndicators` would come to by hand, and does not do. */
export async function wouldPut(
  { tx, organizationId }: Pick<Change, "tx" | "organizationId">,
  indicators: readonly FileIndicator[],
): Promise<{ added: number; updated: number }> {
  let updated = 0;
  for (let from = 0; from < indicators.length; from += STATEMENT_MAX_INDICATORS) {
    const some = indicators.slice(from, from + STATEMENT_MAX_INDICATORS);
    updated += await countKnown(tx, organizationId, some);
  }
  return { added: indicators.length - updated, updated };
}

/** How many of them the organisation has already. */
async function countKnown(
  tx: TransactionSql,
  organizationId: number,
  some: readonly FileIndicator[],
): Promise<number> {
  const [row] = await tx<{ n: number }[]>`
    SELECT count(*)::integer AS n
    FROM (${givenRows(tx, some)}) AS given, ${indicatorOfGiven(tx, organizationId)}`;
  return row?.n ?? 0;
}
