-- When an incident opened of which nobody was told because too many of its rule opened at once, and when they were told of in sum.
ALTER TABLE incidents ADD COLUMN held_back_at timestamptz(3);
ALTER TABLE incidents ADD COLUMN digested_at timestamptz(3);
CREATE INDEX incidents_held_back_idx ON incidents (held_back_at) WHERE held_back_at IS NOT NULL AND digested_at IS NULL;
CREATE INDEX incidents_created_idx ON incidents (organization_id, created_at);

INSERT INTO job_turns (name, next_attempt_at) VALUES ('incident-digests', now());
