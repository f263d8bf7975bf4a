-- A feed is gone at once, however much it listed: its lists stay until what it alone listed has expired, some at a time.
ALTER TABLE ioc_feed_listings DROP CONSTRAINT ioc_feed_listings_feed_id_fkey;
ALTER TABLE iocs DROP CONSTRAINT iocs_feed_id_fkey;
-- That constraint alone used it.
DROP INDEX iocs_feed_idx;
