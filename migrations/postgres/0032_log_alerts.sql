ALTER TABLE log_counters
  -- A condition in KQL, whose text says which entries; null for any.
  ADD COLUMN kql text CHECK (char_length(kql) <= 2048),
  -- Fields by whose values it counts apart.
  ADD COLUMN group_by text[] NOT NULL DEFAULT '{}',
  -- The time by which an entry is counted: its own, or what alerts take for it, see src/rules/counters/counter-plan.ts.
  ADD COLUMN clock text NOT NULL DEFAULT 'own' CHECK (clock IN ('own', 'alert')),
  -- Since when its past is counted; null for all of it.
  ADD COLUMN past_from timestamptz(3);

-- Up to which moment everything is sealed that the stream's server had taken.
ALTER TABLE ingest_streams ADD COLUMN through timestamptz(3);

-- Rules that are evaluated as entries come, of whatever kind.
CREATE TABLE live_rules (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  kind            text NOT NULL CHECK (kind IN ('log')),
  -- Of its kind.
  rule_id         bigint NOT NULL,
  counter_id      bigint NOT NULL REFERENCES log_counters (id),
  -- What it asks of the counts, and what is said of it.
  definition      jsonb NOT NULL,
  -- Grows with each evaluation and each change: whoever writes what it found checks that nobody else did meanwhile.
  version         bigint NOT NULL DEFAULT 0,
  evaluated_at    timestamptz(3),
  -- In succession, and not before when the next try is.
  failures        integer NOT NULL DEFAULT 0,
  retry_at        timestamptz(3) NOT NULL DEFAULT now(),
  last_error      text,
  UNIQUE (kind, rule_id)
);

CREATE INDEX live_rules_organization_idx ON live_rules (organization_id);
CREATE INDEX live_rules_counter_idx ON live_rules (counter_id);
CALL restrict_to_organization('live_rules', 'SELECT, INSERT, UPDATE, DELETE');

-- Which buckets of counters have got new entries that no rule has looked at: milliseconds since 1970, the end excluded.
CREATE TABLE counter_changes (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  counter_id      bigint NOT NULL REFERENCES log_counters (id) ON DELETE CASCADE,
  from_ms         bigint NOT NULL,
  to_ms           bigint NOT NULL
);

CREATE INDEX counter_changes_counter_idx ON counter_changes (counter_id, id);
CALL restrict_to_organization('counter_changes', 'SELECT, DELETE');

-- Of a rule and what it counts apart, where not all is well.
CREATE TABLE rule_groups (
  live_rule_id    bigint NOT NULL REFERENCES live_rules (id) ON DELETE CASCADE,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- The values of the fields that it groups by, as a JSON text; empty where it groups by none.
  group_key       text NOT NULL CHECK (char_length(group_key) <= 1024),
  state           jsonb NOT NULL,
  -- When the state changes though nothing comes.
  wake_at         timestamptz(3) NOT NULL,
  PRIMARY KEY (live_rule_id, group_key)
);

CREATE INDEX rule_groups_wake_idx ON rule_groups (live_rule_id, wake_at);
CALL restrict_to_organization('rule_groups', 'SELECT, INSERT, UPDATE, DELETE');

-- Stretches of time in which the condition of a rule held.
CREATE TABLE detections (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  rule_kind       text NOT NULL,
  rule_id         bigint NOT NULL,
  group_key       text NOT NULL,
  -- The first and the last moment at which it held, and until when it does unless more comes.
  started_at      timestamptz(3) NOT NULL,
  ended_at        timestamptz(3) NOT NULL,
  until_at        timestamptz(3) NOT NULL,
  peak            double precision NOT NULL,
  -- Whether an incident was raised of it, or it belongs to one.
  is_reported     boolean NOT NULL DEFAULT false,
  -- The one that it turned out to be a part of.
  merged_into     bigint REFERENCES detections (id) ON DELETE SET NULL,
  detected_at     timestamptz(3) NOT NULL
);

CREATE INDEX detections_rule_idx ON detections (organization_id, rule_kind, rule_id, group_key, until_at);
CREATE INDEX detections_age_idx ON detections (detected_at);
CALL restrict_to_organization('detections', 'SELECT, INSERT, UPDATE, DELETE');

-- Rules of an organisation about how many entries of a kind there are.
CREATE TABLE log_alerts (
  id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id      integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name                 text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  kind                 text NOT NULL CHECK (kind IN ('threshold', 'anomaly')),
  description          text CHECK (char_length(description) <= 2048),
  query                text CHECK (char_length(query) <= 1024),
  kql                  text CHECK (char_length(kql) <= 2048),
  service              text CHECK (char_length(service) <= 255),
  level                text CHECK (char_length(level) <= 64),
  group_by             text[] NOT NULL,
  severity             text NOT NULL,
  attack_technique     text CHECK (char_length(attack_technique) <= 16),
  threshold            integer NOT NULL,
  window_sec           integer NOT NULL,
  for_sec              integer,
  keep_firing_sec      integer,
  baseline_hours       integer NOT NULL,
  ratio_threshold      double precision NOT NULL,
  min_baseline_events  integer NOT NULL,
  direction            text NOT NULL,
  enabled              boolean NOT NULL,
  escalation_policy_id bigint REFERENCES escalation_policies (id),
  alert_email          text CHECK (char_length(alert_email) <= 255),
  -- The channels that are set, and what they are, sealed.
  channels             text[] NOT NULL,
  sealed_channels      bytea,
  created_at           timestamptz(3) NOT NULL,
  updated_at           timestamptz(3) NOT NULL
);

CREATE INDEX log_alerts_organization_idx ON log_alerts (organization_id, id);
CALL restrict_to_organization('log_alerts', 'SELECT, INSERT, UPDATE, DELETE');
