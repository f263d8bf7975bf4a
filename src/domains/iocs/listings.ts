import type { TransactionSql } from "postgres";
import type { FileIndicator } from "./read-file.ts";

/** The statements about which feed lists what; see `ioc_listings`. */

interface Listing {
  readonly organizationId: number;
  readonly feedId: number;
  readonly nowMs: number;
}

/** Writes down that a feed lists indicators that are known, which last as long as the feed of those that list them says it longest. */
export async function noteListed(
  tx: TransactionSql,
  { organizationId, feedId, nowMs }: Listing,
  listed: readonly FileIndicator[],
): Promise<void> {
  await tx`
    WITH listed AS (
      INSERT INTO ioc_listings (ioc_id, feed_id, organization_id, expires_at, listed_at)
      SELECT i.id, ${feedId}::bigint, i.organization_id, given.expires_at::timestamptz, ${new Date(nowMs)}::timestamptz
      FROM unnest(${listed.map(({ type }) => type)}::text[], ${listed.map(({ value }) => value)}::text[],
                  ${listed.map(({ expiresAt }) => expiresAt)}::text[]) AS given (type, value, expires_at)
      JOIN iocs i ON i.organization_id = ${organizationId} AND i.type = given.type AND i.value = given.value
      ON CONFLICT (ioc_id, feed_id) DO UPDATE
      SET expires_at = excluded.expires_at, listed_at = excluded.listed_at, gone_at = NULL
      RETURNING ioc_id, expires_at
    ), lasting AS (
      SELECT ioc_id, nullif(greatest(coalesce(expires_at, 'infinity'), ${untilOfOthers(tx, feedId)}), 'infinity') AS until
      FROM listed
    )
    UPDATE iocs i SET expires_at = lasting.until FROM lasting
    WHERE i.id = lasting.ioc_id AND NOT i.by_person AND i.expires_at IS DISTINCT FROM lasting.until`;
}

/**
 * Expires what a feed listed and no other lists, unless a person vouches for it; how many that were. What it has listed
 * since `beforeMs` it lists still; null where it lists nothing any more.
 */
export async function expireUnlisted(
  tx: TransactionSql,
  { organizationId, feedId, nowMs }: Listing,
  beforeMs: number | null,
): Promise<number> {
  const now = new Date(nowMs);
  const left = tx`
    organization_id = ${organizationId} AND feed_id = ${feedId} AND gone_at IS NULL
    AND ${beforeMs === null ? tx`true` : tx`listed_at < ${new Date(beforeMs)}`}`;
  const [row] = await tx<{ expired: number }[]>`
    WITH rest AS (
      SELECT listed.ioc_id, ${untilOfOthers(tx, feedId)} AS until FROM ioc_listings listed WHERE ${left}
    ), changed AS (
      UPDATE iocs i
      SET expires_at = nullif(coalesce(rest.until, least(i.expires_at, ${now}::timestamptz)), 'infinity')
      FROM rest
      WHERE i.id = rest.ioc_id AND NOT i.by_person
        AND coalesce(i.expires_at, 'infinity') <> coalesce(rest.until, least(i.expires_at, ${now}::timestamptz))
      RETURNING i.expires_at
    )
    SELECT count(*) FILTER (WHERE expires_at <= ${now}::timestamptz)::integer AS expired FROM changed`;
  await tx`UPDATE ioc_listings SET gone_at = ${now} WHERE ${left}`;
  return row?.expired ?? 0;
}

/** Until when other feeds say that `listed` lasts: null where none lists it. */
function untilOfOthers(tx: TransactionSql, feedId: number) {
  return tx`(
    SELECT max(coalesce(other.expires_at, 'infinity')) FROM ioc_listings other
    WHERE other.ioc_id = listed.ioc_id AND other.feed_id <> ${feedId} AND other.gone_at IS NULL)`;
}
