-- What nobody is told of for a while. It is kept all the same, and what is still wrong afterwards is told then.
CREATE TABLE silences (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- What an incident has to be of; null for anything.
  source          text,
  rule_kind       text,
  rule_id         bigint,
  monitor_id      bigint,
  group_key       jsonb,
  reason          text CHECK (char_length(reason) <= 1024),
  starts_at       timestamptz(3) NOT NULL,
  ends_at         timestamptz(3) NOT NULL CHECK (ends_at > starts_at),
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL
);

CREATE INDEX silences_organization_idx ON silences (organization_id, ends_at);
CREATE INDEX silences_age_idx ON silences (ends_at);
CALL restrict_to_organization('silences', 'SELECT, INSERT, UPDATE, DELETE');

-- The silence for which nobody was told that it is open; the silence may be gone by now.
ALTER TABLE incidents ADD COLUMN silence_id bigint;
CREATE INDEX incidents_silence_idx ON incidents (silence_id) WHERE silence_id IS NOT NULL AND resolved_at IS NULL;

INSERT INTO job_turns (name, next_attempt_at) VALUES ('incident-unsilencing', now());
