-- What the owner of a rule is told of it although it was evaluated ends by itself when everything is known up to then.
ALTER TABLE live_rules ADD COLUMN note_until timestamptz;
CREATE INDEX live_rules_noted_idx ON live_rules (note_until) WHERE note_until IS NOT NULL;
