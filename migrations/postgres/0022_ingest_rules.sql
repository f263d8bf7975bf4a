-- What becomes of the entries of an organisation before they are stored: in the order of position, then id.
CREATE TABLE ingest_rules (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  enabled         boolean NOT NULL DEFAULT true,
  position        integer NOT NULL DEFAULT 0 CHECK (position BETWEEN 0 AND 1000000),
  -- A predicate in KQL; null is every entry.
  query           text CHECK (char_length(query) <= 2048),
  action          text NOT NULL CHECK (action IN ('drop', 'sample', 'mask')),
  keep_one_in     integer CHECK (keep_one_in BETWEEN 2 AND 1000000),
  fields          text[],
  patterns        text[],
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  CHECK ((action = 'sample') = (keep_one_in IS NOT NULL))
);

CREATE INDEX ingest_rules_organization_idx ON ingest_rules (organization_id, id);
CALL restrict_to_organization('ingest_rules', 'SELECT, INSERT, UPDATE, DELETE');

-- What the rules did, by the hour in which entries were received.
CREATE TABLE ingest_rule_counts (
  rule_id         bigint NOT NULL REFERENCES ingest_rules (id) ON DELETE CASCADE,
  hour            timestamptz(0) NOT NULL,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  dropped         bigint NOT NULL DEFAULT 0,
  masked          bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (rule_id, hour)
);

CREATE INDEX ingest_rule_counts_hour_idx ON ingest_rule_counts (hour);
CREATE INDEX ingest_rule_counts_organization_idx ON ingest_rule_counts (organization_id);
CALL restrict_to_organization('ingest_rule_counts', 'SELECT');
