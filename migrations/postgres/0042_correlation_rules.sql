-- Rules of an organisation about several entries that have to do with each other.
CREATE TABLE correlation_rules (
  id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id      integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name                 text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  kind                 text NOT NULL CHECK (kind IN ('sequence', 'cardinality')),
  description          text CHECK (char_length(description) <= 2048),
  join_field           text NOT NULL CHECK (char_length(join_field) BETWEEN 1 AND 255),
  severity             text NOT NULL,
  attack_technique     text CHECK (char_length(attack_technique) <= 16),
  window_sec           integer NOT NULL CHECK (window_sec BETWEEN 30 AND 86400),
  -- Of a sequence: what has to be found in this order, as KQL.
  steps                jsonb,
  -- Of a cardinality: which entries, and of which field so many different values.
  match_kql            text CHECK (char_length(match_kql) <= 2048),
  distinct_field       text CHECK (char_length(distinct_field) BETWEEN 1 AND 255),
  threshold            integer CHECK (threshold BETWEEN 1 AND 1000000),
  enabled              boolean NOT NULL,
  escalation_policy_id bigint REFERENCES escalation_policies (id),
  alert_email          text CHECK (char_length(alert_email) <= 255),
  channels             text[] NOT NULL,
  sealed_channels      bytea,
  -- The rule of the catalogue that it was made of; null for one that people made.
  catalog_id           text CHECK (char_length(catalog_id) <= 64),
  created_at           timestamptz(3) NOT NULL,
  updated_at           timestamptz(3) NOT NULL
);

CREATE INDEX correlation_rules_organization_idx ON correlation_rules (organization_id, id);
CREATE UNIQUE INDEX correlation_rules_catalog_idx ON correlation_rules (organization_id, catalog_id)
  WHERE catalog_id IS NOT NULL;
CALL restrict_to_organization('correlation_rules', 'SELECT, INSERT, UPDATE, DELETE');

ALTER TABLE live_rules DROP CONSTRAINT live_rules_kind_check;
ALTER TABLE live_rules ADD CONSTRAINT live_rules_kind_check CHECK (kind IN ('log', 'metric', 'correlation'));
