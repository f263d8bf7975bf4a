import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { FEEDS_MAX } from "../../entities/indicators/limits.ts";
import { ApiError } from "../../errors.ts";
import { type CreateFeedBody, Feed, type UpdateFeedBody } from "./feed-types.ts";

/** An hour: what most feeds are made anew in. */
export const FEED_INTERVAL_SEC = 3600;

export const feeds = new Records<typeof Feed, CreateFeedBody, UpdateFeedBody>({
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

export function createFeed(change: Change, body: CreateFeedBody) {
  return feeds.create(change, { intervalSec: FEED_INTERVAL_SEC, ...body });
}

/** Sets the fields that are given; the feed is asked anew. */
export async function updateFeed(change: Change, id: number, body: UpdateFeedBody) {
  const feed = await feeds.update(change, id, body);
  // What was known of another file says nothing of this one.
  await change.tx`
    UPDATE ioc_feeds SET etag = NULL, last_modified = NULL, next_fetch_at = now(), attempts = 0
    WHERE organization_id = ${change.organizationId} AND id = ${id}`;
  return feed;
}
