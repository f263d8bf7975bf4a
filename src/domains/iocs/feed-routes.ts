import type { Sql } from "postgres";
import { Records } from "../../changes/records.ts";
import { FEEDS_MAX } from "../../entities/indicators/limits.ts";
import { ApiError } from "../../errors.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import { CreateFeedBody, Feed, UpdateFeedBody } from "./feed-types.ts";
import { expireUnlisted } from "./listings.ts";

interface FeedRouteDependencies {
  readonly sql: Sql;
  /** Rings when a feed is to be asked. */
  readonly onFeed: () => void;
}

/** An hour: what most feeds are made anew in. */
const INTERVAL_SEC = 3600;

const feeds = new Records<typeof Feed, CreateFeedBody, UpdateFeedBody>({
  noun: "IOC feed",
  table: "ioc_feeds",
  schema: Feed,
  maxPerOrganization: FEEDS_MAX,
  check: async ({ name }, before, { tx, organizationId }) => {
    if (name === undefined || name === before?.name) return;
    const [other] =
      await tx`SELECT 1 FROM ioc_feeds WHERE organization_id = ${organizationId} AND name = ${name}`;
    if (other !== undefined) throw new ApiError("CONFLICT", "Another feed has this name.");
  },
});

/** Lists of indicators that others keep. */
export function feedRoutes({ sql, onFeed }: FeedRouteDependencies) {
  const routes = resource({
    path: "/api/v1/iocs/feeds",
    tag: "Security records",
    one: "an IOC feed",
    many: "IOC feeds",
    by: BY_ID,
    record: Feed,
    read: { role: "viewer", scope: "security:read" },
    write: { role: "member", scope: "security:write" },
    audit: "IOC_FEED",
  });
  return [
    routes.list("Oldest first", ({ organizationId }) => feeds.list(sql, organizationId)),
    routes.create(CreateFeedBody, Feed, (change, body) => {
      change.afterCommit(onFeed);
      return feeds.create(change, { intervalSec: INTERVAL_SEC, ...body });
    }),
    routes.read(Feed, ({ organizationId }, id) => feeds.read(sql, organizationId, id)),
    routes.update(
      UpdateFeedBody,
      async (change, id, body) => {
        const feed = await feeds.update(change, id, body);
        // What was known of another file says nothing of this one.
        await change.tx`
          UPDATE ioc_feeds SET etag = NULL, last_modified = NULL, next_fetch_at = now(), attempts = 0
          WHERE organization_id = ${change.organizationId} AND id = ${id}`;
        change.afterCommit(onFeed);
        return feed;
      },
      { errors: ["CONFLICT"] },
    ),
    routes.remove(async (change, id) => {
      const { tx, organizationId, nowMs } = change;
      await lockOrganization(tx, organizationId);
      await expireUnlisted(tx, { organizationId, feedId: id, nowMs }, null);
      await feeds.remove(change, id);
    }),
  ];
}
