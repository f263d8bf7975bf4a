-- A million indicators take at most 256 MB with what is known of the lists that have them: what tells them apart is sixteen bytes
-- however long they are, and lists are packed.

-- What an indicator is known by; the same for two only of one organisation and one value, also where somebody tries. A
-- backslash is doubled, since a text that is read as bytes has none alone.
CREATE FUNCTION ioc_key(organization_id integer, value text) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN encode(substr(sha256((organization_id::text || ' ' || replace(value, '\', '\\'))::bytea), 1, 16), 'hex')::uuid;

-- Which are looked for at a revision: all up to the last of the latest batch that begins with it or before.
UPDATE ioc_batches b SET last_ioc_id = own.last
FROM (SELECT batch_id, max(id) AS last FROM iocs GROUP BY batch_id) own
WHERE own.batch_id = b.id AND b.last_ioc_id IS NULL;
DROP INDEX ioc_batches_organization_idx;
CREATE INDEX ioc_batches_organization_idx ON ioc_batches (organization_id, from_revision, id);

-- The table is written anew by this, without what was in the place of rows that are gone.
ALTER TABLE iocs
  DROP CONSTRAINT iocs_organization_id_value_key,
  DROP COLUMN batch_id,
  ADD COLUMN key uuid NOT NULL GENERATED ALWAYS AS (ioc_key(organization_id, value)) STORED;
ALTER TABLE iocs ADD CONSTRAINT iocs_key_key UNIQUE (key);

-- Which indicators a feed lists, by 8192 ids: their places among these in order, until when the feed says that each lasts (null where
-- it says so of none), and the places of those that it has listed and lists no more.
CREATE TABLE ioc_feed_listings (
  feed_id         bigint NOT NULL REFERENCES ioc_feeds (id) ON DELETE CASCADE,
  chunk           integer NOT NULL,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  listed          smallint[] NOT NULL,
  until           timestamptz(3)[],
  gone            smallint[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (feed_id, chunk)
);

CREATE INDEX ioc_feed_listings_organization_idx ON ioc_feed_listings (organization_id, chunk);
CALL restrict_to_organization('ioc_feed_listings', 'SELECT, INSERT, UPDATE, DELETE');

INSERT INTO ioc_feed_listings (feed_id, chunk, organization_id, listed, until, gone)
SELECT feed_id, ioc_id / 8192, organization_id,
  coalesce(array_agg(ioc_id % 8192 ORDER BY ioc_id) FILTER (WHERE gone_at IS NULL), '{}'),
  CASE WHEN bool_or(gone_at IS NULL AND expires_at IS NOT NULL)
    THEN array_agg(expires_at ORDER BY ioc_id) FILTER (WHERE gone_at IS NULL) END,
  coalesce(array_agg(ioc_id % 8192 ORDER BY ioc_id) FILTER (WHERE gone_at IS NOT NULL), '{}')
FROM ioc_listings GROUP BY feed_id, ioc_id / 8192, organization_id;
DROP TABLE ioc_listings;
