-- To a millisecond Postgres rounds up as often as down: what was put on "now" was not due yet for up to half of one, and who looked at
-- once saw nothing to do. When work is due is kept as exactly as the clock tells it.
ALTER TABLE live_rules ALTER COLUMN retry_at TYPE timestamptz;
ALTER TABLE ioc_feeds ALTER COLUMN next_fetch_at TYPE timestamptz;
ALTER TABLE mail_outbox ALTER COLUMN next_attempt_at TYPE timestamptz;
ALTER TABLE deliveries ALTER COLUMN next_attempt_at TYPE timestamptz;
ALTER TABLE check_batches ALTER COLUMN next_attempt_at TYPE timestamptz;
ALTER TABLE status_page_notices ALTER COLUMN next_attempt_at TYPE timestamptz;

-- So is until when somebody holds something: what was given back, or had run out, was not free yet.
ALTER TABLE monitor_shards ALTER COLUMN leased_until TYPE timestamptz;
ALTER TABLE monitor_runners ALTER COLUMN seen_until TYPE timestamptz;
ALTER TABLE idempotency_keys ALTER COLUMN leased_until TYPE timestamptz;
ALTER TABLE ingest_streams ALTER COLUMN lease_until TYPE timestamptz;
ALTER TABLE server_instances ALTER COLUMN lease_until TYPE timestamptz;
ALTER TABLE incidents ALTER COLUMN settle_at TYPE timestamptz;
