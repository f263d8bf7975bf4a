-- What was or is wrong, whoever noticed it.
CREATE TABLE incidents (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id   integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- What is wrong, as its source names it: `monitor:17`, `certificate:17`, `slo:17`, `rule:5:<group>`, `alert:<receiver>:<key>`;
  -- null for an incident that a person opened. One is open of each at a time.
  source_key        text CHECK (char_length(source_key) <= 512),
  -- What stands behind the key, as the source told it.
  source            jsonb,
  title             text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 255),
  status            text NOT NULL CHECK (status IN ('investigating', 'identified', 'monitoring', 'resolved')),
  severity          text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
  -- Dated back to when it began, which may be before it was confirmed.
  opened_at         timestamptz(3) NOT NULL,
  acknowledged_at   timestamptz(3),
  acknowledged_by   bigint REFERENCES users (id) ON DELETE SET NULL,
  resolved_at       timestamptz(3),
  -- Why it ended: a person, its source by itself, or what became of the source.
  resolution        text CHECK (resolution IN ('person', 'recovered', 'paused', 'deleted', 'sender')),
  -- How often it came back, and the times at which it did within the last hour.
  reopened          integer NOT NULL DEFAULT 0,
  reopened_at       timestamptz(3)[] NOT NULL DEFAULT '{}',
  flapping          boolean NOT NULL DEFAULT false,
  -- Of one that flaps and whose source says that it is over: when that is believed.
  settle_at         timestamptz(3),
  postmortem        text CHECK (char_length(postmortem) <= 16384),
  escalation_policy_id bigint,
  -- What the source gave as proof: entries, values, steps.
  evidence          jsonb,
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  CHECK ((status = 'resolved') = (resolved_at IS NOT NULL)),
  CHECK (settle_at IS NULL OR resolved_at IS NULL)
);

CREATE UNIQUE INDEX incidents_open_key_idx ON incidents (organization_id, source_key) WHERE resolved_at IS NULL;
CREATE INDEX incidents_source_key_idx ON incidents (organization_id, source_key, id DESC);
CREATE INDEX incidents_opened_idx ON incidents (organization_id, opened_at DESC, id DESC);
CREATE INDEX incidents_settle_idx ON incidents (settle_at) WHERE settle_at IS NOT NULL;
CALL restrict_to_organization('incidents', 'SELECT, INSERT, UPDATE, DELETE');

INSERT INTO job_turns (name, next_attempt_at) VALUES ('incident-settling', now());

-- Monitors that an incident is about. One that is deleted stays named.
CREATE TABLE incident_monitors (
  incident_id     bigint NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  monitor_id      bigint NOT NULL,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  PRIMARY KEY (incident_id, monitor_id)
);

CREATE INDEX incident_monitors_monitor_idx ON incident_monitors (organization_id, monitor_id, incident_id DESC);
CALL restrict_to_organization('incident_monitors', 'SELECT, INSERT, UPDATE, DELETE');

-- The timeline. What people write is public where the incident is shown; what the server notes is not.
CREATE TABLE incident_updates (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  incident_id     bigint NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  kind            text NOT NULL,
  status          text,
  public          boolean NOT NULL,
  body            text NOT NULL CHECK (char_length(body) BETWEEN 1 AND 4096),
  -- Who did it: a person's account, null for the server.
  user_id         bigint REFERENCES users (id) ON DELETE SET NULL,
  created_at      timestamptz(3) NOT NULL
);

CREATE INDEX incident_updates_incident_idx ON incident_updates (incident_id, id);
CREATE INDEX incident_updates_organization_idx ON incident_updates (organization_id);
CALL restrict_to_organization('incident_updates', 'SELECT, INSERT, UPDATE, DELETE');

-- Where alerts of other systems come in. The token is the path's, and the only credential.
CREATE TABLE alert_receivers (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  severity        text NOT NULL DEFAULT 'medium' CHECK (severity IN ('low', 'medium', 'high', 'critical')),
  escalation_policy_id bigint,
  token_hash      bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL
);

CREATE INDEX alert_receivers_organization_idx ON alert_receivers (organization_id, id);
CALL restrict_to_organization('alert_receivers', 'SELECT, INSERT, UPDATE, DELETE');
