-- Which feed lists which indicator: one that two list stays until neither does, and one that a person vouches for stays anyway.
CREATE TABLE ioc_listings (
  ioc_id          bigint NOT NULL REFERENCES iocs (id) ON DELETE CASCADE,
  feed_id         bigint NOT NULL REFERENCES ioc_feeds (id) ON DELETE CASCADE,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- As the feed says; null where it says nothing.
  expires_at      timestamptz(3),
  -- When the feed was last read with the indicator in it, and first without.
  listed_at       timestamptz(3) NOT NULL,
  gone_at         timestamptz(3),
  PRIMARY KEY (ioc_id, feed_id)
);

CREATE INDEX ioc_listings_feed_idx ON ioc_listings (feed_id);
CREATE INDEX ioc_listings_organization_idx ON ioc_listings (organization_id);
CALL restrict_to_organization('ioc_listings', 'SELECT, INSERT, UPDATE, DELETE');

INSERT INTO ioc_listings (ioc_id, feed_id, organization_id, expires_at, listed_at)
SELECT id, feed_id, organization_id, expires_at, updated_at FROM iocs WHERE feed_id IS NOT NULL;

-- Whether a person made or confirmed it.
ALTER TABLE iocs ADD COLUMN by_person boolean NOT NULL DEFAULT true;
UPDATE iocs SET by_person = false WHERE feed_id IS NOT NULL;

-- What was another feed's until now is listed when each has been read whole once more.
UPDATE ioc_feeds SET etag = NULL, last_modified = NULL;
