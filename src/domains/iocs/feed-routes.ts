import type { Sql } from "postgres";
import { BY_ID, resource } from "../../http/resource.ts";
import { CreateFeedBody, Feed, UpdateFeedBody } from "./feed-types.ts";
import { createFeed, feeds, updateFeed } from "./feeds.ts";

interface FeedRouteDependencies {
  readonly sql: Sql;
  /** Rings when a feed is to be asked, or to be forgotten. */
  readonly onFeed: () => void;
}

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
      return createFeed(change, body);
    }),
    routes.read(Feed, ({ organizationId }, id) => feeds.read(sql, organizationId, id)),
    routes.update(
      UpdateFeedBody,
      (change, id, body) => {
        change.afterCommit(onFeed);
        return updateFeed(change, id, body);
      },
      { errors: ["CONFLICT"] },
    ),
    routes.remove((change, id) => {
      change.afterCommit(onFeed);
      return feeds.remove(change, id);
    }),
  ];
}
