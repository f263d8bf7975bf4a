import type { Change } from "../../changes/change.ts";
import { activateBatch, beginBatch } from "../../entities/indicators/indicator-store.ts";
import { IOCS_MAX, STATEMENT_MAX_INDICATORS } from "../../entities/indicators/limits.ts";
import { ApiError } from "../../errors.ts";
import type { Severity } from "../../problems/events.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import { noteListed } from "./listings.ts";
import type { FileIndicator } from "./read-file.ts";

/** A feed that brings indicators: of what a person made or confirmed it changes nothing. */
interface Bringing {
  readonly id: number;
  readonly name: string;
  readonly severity: Severity | null;
}

/** Writes indicators, new ones and what is said anew of known ones. Throws CONFLICT when there would be too many. */
export async function putIndicators(
  change: Change,
  indicators: readonly FileIndicator[],
  feed: Bringing | null,
): Promise<{ added: number; updated: number }> {
  const { tx, organizationId } = change;
  await lockOrganization(tx, organizationId);
  const batchId = await beginBatch(tx, organizationId);
  let [added, updated] = [0, 0];
  for (let from = 0; from < indicators.length; from += STATEMENT_MAX_INDICATORS) {
    const some = indicators.slice(from, from + STATEMENT_MAX_INDICATORS);
    const written = await upsert(change, some, batchId, feed);
    if (feed !== null) await noteListed(tx, { organizationId, feedId: feed.id, nowMs: change.nowMs }, some);
    added += written.added;
    updated += written.updated;
  }
  const [row] = await tx<{ n: number }[]>`
    SELECT count(*)::integer AS n FROM iocs WHERE organization_id = ${organizationId}`;
  if ((row?.n ?? 0) > IOCS_MAX)
    throw new ApiError("CONFLICT", `${IOCS_MAX} is the most of this kind (IOC); delete some first.`);
  if (added > 0) await activateBatch(tx, organizationId, batchId);
  else await tx`DELETE FROM ioc_batches WHERE organization_id = ${organizationId} AND id = ${batchId}`;
  return { added, updated };
}

async function upsert(
  { tx, organizationId, nowMs }: Change,
  some: readonly FileIndicator[],
  batchId: number,
  feed: Bringing | null,
): Promise<{ added: number; updated: number }> {
  const now = new Date(nowMs);
  const texts = (of: (indicator: FileIndicator) => string | null) => tx`${some.map(of)}::text[]`;
  const rows = await tx<{ isNew: boolean }[]>`
    INSERT INTO iocs AS known (organization_id, type, value, prefix_bits, severity, description, expires_at, confidence, source,
                               feed_id, by_person, batch_id, created_at, updated_at)
    SELECT ${organizationId}::integer, type, value, prefix_bits, coalesce(severity, ${feed?.severity ?? null}), description,
           expires_at::timestamptz, confidence, coalesce(source, ${feed?.name ?? null}), ${feed?.id ?? null}::bigint,
           ${feed === null}, ${batchId}::bigint, ${now}::timestamptz, ${now}::timestamptz
    FROM unnest(${texts(({ type }) => type)}, ${texts(({ value }) => value)},
                ${some.map(({ prefixBits }) => prefixBits)}::smallint[], ${texts(({ severity }) => severity)},
                ${texts(({ description }) => description)}, ${texts(({ expiresAt }) => expiresAt)},
                ${some.map(({ confidence }) => confidence)}::smallint[], ${texts(({ source }) => source)})
      AS given (type, value, prefix_bits, severity, description, expires_at, confidence, source)
    ON CONFLICT (organization_id, type, value) DO UPDATE
    SET severity = coalesce(excluded.severity, known.severity), description = coalesce(excluded.description, known.description),
        expires_at = CASE WHEN excluded.by_person THEN excluded.expires_at ELSE known.expires_at END,
        confidence = coalesce(excluded.confidence, known.confidence), source = coalesce(excluded.source, known.source),
        feed_id = coalesce(known.feed_id, excluded.feed_id), by_person = excluded.by_person, updated_at = excluded.updated_at
    WHERE excluded.by_person OR NOT known.by_person
    RETURNING (xmax = 0) AS "isNew"`;
  const added = rows.filter(({ isNew }) => isNew).length;
  return { added, updated: rows.length - added };
}

/** What `putIndicators` would come to by hand, and does not do. */
export async function wouldPut(
  { tx, organizationId }: Pick<Change, "tx" | "organizationId">,
  indicators: readonly FileIndicator[],
): Promise<{ added: number; updated: number }> {
  let updated = 0;
  for (let from = 0; from < indicators.length; from += STATEMENT_MAX_INDICATORS) {
    const some = indicators.slice(from, from + STATEMENT_MAX_INDICATORS);
    const [row] = await tx<{ n: number }[]>`
      SELECT count(*)::integer AS n
      FROM unnest(${some.map(({ type }) => type)}::text[], ${some.map(({ value }) => value)}::text[]) AS given (type, value)
      JOIN iocs i ON i.organization_id = ${organizationId} AND i.type = given.type AND i.value = given.value`;
    updated += row?.n ?? 0;
  }
  return { added: indicators.length - updated, updated };
}
