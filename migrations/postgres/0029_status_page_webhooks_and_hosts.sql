-- Subscribers that are programs, and proof of whose a host is.

ALTER TABLE status_page_subscribers
  -- Null is by mail. {url, secret} encrypted, for an address may hold a token.
  ADD COLUMN webhook_sealed bytea,
  -- A hash of the address, so that no page tells one twice.
  ADD COLUMN webhook_key    bytea CHECK (octet_length(webhook_key) = 32),
  -- What of the address its page's people are shown.
  ADD COLUMN webhook_host   text,
  -- Changes in a row that could not be told; after some of them nothing is told any more.
  ADD COLUMN failures       integer NOT NULL DEFAULT 0,
  ADD COLUMN channel        text NOT NULL GENERATED ALWAYS AS
    (CASE WHEN webhook_key IS NULL THEN 'mail' ELSE 'webhook' END) STORED,
  ADD CONSTRAINT status_page_subscribers_webhook_check
    CHECK ((webhook_sealed IS NULL) = (webhook_key IS NULL) AND (webhook_host IS NULL) = (webhook_key IS NULL)),
  DROP CONSTRAINT status_page_subscribers_status_page_id_email_key;

CREATE UNIQUE INDEX status_page_subscribers_mail_idx ON status_page_subscribers (status_page_id, email)
  WHERE webhook_key IS NULL;
CREATE UNIQUE INDEX status_page_subscribers_webhook_idx ON status_page_subscribers (status_page_id, webhook_key)
  WHERE webhook_key IS NOT NULL;

-- Mails and webhooks are sent side by side, so that an endpoint that hangs holds up no mail.
ALTER TABLE status_page_notices ADD COLUMN channel text NOT NULL DEFAULT 'mail';
DROP INDEX status_page_notices_due_idx;
CREATE INDEX status_page_notices_due_idx ON status_page_notices (channel, next_attempt_at) WHERE is_due;

-- Anybody may name a host; one page answers on it, that of whom proved that it is theirs.
ALTER TABLE status_pages
  ADD COLUMN custom_domain_proven_at timestamptz(3),
  DROP CONSTRAINT status_pages_custom_domain_key;
CREATE UNIQUE INDEX status_pages_proven_domain_idx ON status_pages (custom_domain)
  WHERE custom_domain_proven_at IS NOT NULL;
