-- Work that one instance takes at a time. A row names the claim that holds it until a time by this database's clock;
-- without a claim the same time says when the row is due. Whoever completes a row names the claim it took it under.
ALTER TABLE mail_outbox ADD COLUMN claim_id uuid;

ALTER TABLE log_archive_units ADD COLUMN claim_id uuid;
ALTER TABLE log_archive_units RENAME COLUMN failures TO attempts;

-- Work of which there is one of a kind.
CREATE TABLE job_turns (
  name            text PRIMARY KEY,
  next_attempt_at timestamptz NOT NULL,
  attempts        integer NOT NULL DEFAULT 0,
  claim_id        uuid
);
INSERT INTO job_turns (name, next_attempt_at) VALUES ('archive-sweep', now()), ('archive-deletion', now());

-- Null once the request is answered, or known to be stored: nobody holds the key any more.
ALTER TABLE idempotency_keys ALTER COLUMN attempt DROP NOT NULL;

-- Logs of instances that were gone for too long: their executions were given up, and the request stored elsewhere. When
-- such an instance comes back with the entries in its log, it finds out here that they are not its own any more.
ALTER TABLE idempotency_keys ADD COLUMN lost_logs text[] NOT NULL DEFAULT '{}';
CREATE INDEX idempotency_keys_lost_idx ON idempotency_keys (organization_id) WHERE lost_logs <> '{}';
