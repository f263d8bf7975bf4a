-- When a rule was not evaluated; without an end as long as it is not.
CREATE TABLE rule_gaps (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  rule_kind       text NOT NULL,
  rule_id         bigint NOT NULL,
  from_at         timestamptz(3) NOT NULL,
  to_at           timestamptz(3)
);

CREATE INDEX rule_gaps_rule_idx ON rule_gaps (organization_id, rule_kind, rule_id, id);
CALL restrict_to_organization('rule_gaps', 'SELECT, INSERT, UPDATE, DELETE');

-- Ranges of the past that somebody had a rule evaluated over.
CREATE TABLE rule_runs (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  rule_kind       text NOT NULL,
  rule_id         bigint NOT NULL,
  from_at         timestamptz(3) NOT NULL,
  to_at           timestamptz(3) NOT NULL,
  -- Episodes in the range, and those of them that were not known.
  found           integer NOT NULL,
  added           integer NOT NULL,
  truncated       boolean NOT NULL,
  run_at          timestamptz(3) NOT NULL
);

CREATE INDEX rule_runs_rule_idx ON rule_runs (organization_id, rule_kind, rule_id, id);
CALL restrict_to_organization('rule_runs', 'SELECT, INSERT, DELETE');

-- Who found it: the evaluation of what comes, or a run over the past, of which nobody is told.
ALTER TABLE detections ADD COLUMN mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'run'));
