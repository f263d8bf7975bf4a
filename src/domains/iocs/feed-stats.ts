import type { Sql } from "postgres";
import type { Static } from "typebox";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { foundByFeed } from "./listings.ts";
import type { FeedStats } from "./types.ts";

const DAY_MS = 86_400_000;

export function readFeedStats(
  sql: Sql,
  organizationId: number,
  nowMs: number,
): Promise<Static<typeof FeedStats>> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) => {
      const counts = await tx<{ type: "ip" | "domain" | "hash"; isExpired: boolean; n: number }[]>`
        SELECT type, coalesce(expires_at <= ${new Date(nowMs)}, false) AS "isExpired", count(*)::integer AS n
        FROM iocs WHERE organization_id = ${organizationId} GROUP BY 1, 2`;
      const [hits] = await tx<{ n: number }[]>`
        SELECT coalesce(sum(n), 0)::float8 AS n FROM ioc_hit_hours
        WHERE organization_id = ${organizationId} AND hour > ${new Date(nowMs - DAY_MS)}`;
      const found = new Map(
        (await foundByFeed(tx, organizationId)).map((feed) => [
          feed.feedId,
          feed.found / Math.max(1, feed.listed),
        ]),
      );
      const feeds = await tx<Omit<Static<typeof FeedStats>["feeds"][number], "hitRatio">[]>`
        SELECT f.id::integer, f.name,
          to_char(f.last_fetch_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "lastFetchAt",
          f.status, f.added, f.updated, f.expired, f.rejected
        FROM ioc_feeds f WHERE f.organization_id = ${organizationId} ORDER BY f.id`;
      const sum = (of: (count: (typeof counts)[number]) => boolean): number =>
        counts.filter(of).reduce((total, { n }) => total + n, 0);
      return {
        total: sum(() => true),
        active: sum(({ isExpired }) => !isExpired),
        expired: sum(({ isExpired }) => isExpired),
        byType: {
          ip: sum(({ type }) => type === "ip"),
          domain: sum(({ type }) => type === "domain"),
          hash: sum(({ type }) => type === "hash"),
        },
        hits24h: hits?.n ?? 0,
        feeds: feeds.map((feed) => ({ ...feed, hitRatio: found.get(feed.id) ?? 0 })),
      };
    }),
  );
}
