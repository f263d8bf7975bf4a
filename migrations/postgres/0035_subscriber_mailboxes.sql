-- Whose mailbox an address leads to: what stands behind a plus sign is the reader's own sorting.
ALTER TABLE status_page_subscribers
  ADD COLUMN mailbox text GENERATED ALWAYS AS (regexp_replace(email, '\+[^@]*@', '@')) STORED;

DROP INDEX status_page_subscribers_email_idx;
CREATE INDEX status_page_subscribers_mailbox_idx ON status_page_subscribers (mailbox, confirmation_sent_at);
CREATE INDEX status_page_subscribers_page_pending_idx
  ON status_page_subscribers (status_page_id, confirmation_sent_at) WHERE confirmed_at IS NULL;
