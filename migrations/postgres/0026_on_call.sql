-- Who is to be reached when, and in which order.
CREATE TABLE on_call_schedules (
  id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id     integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name                text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  description         text CHECK (char_length(description) <= 2000),
  -- As the tz database names it: in it people read the times, and handoffs are meant.
  timezone            text NOT NULL DEFAULT 'UTC' CHECK (char_length(timezone) BETWEEN 1 AND 64),
  -- Of the address under which calendars subscribe; null where none does.
  calendar_token_hash bytea UNIQUE CHECK (octet_length(calendar_token_hash) = 32),
  created_at          timestamptz(3) NOT NULL,
  updated_at          timestamptz(3) NOT NULL
);

CREATE INDEX on_call_schedules_organization_idx ON on_call_schedules (organization_id, id);
CALL restrict_to_organization('on_call_schedules', 'SELECT, INSERT, UPDATE, DELETE');

-- One turn of one person, half-open, and who stands in for them in all or some of it. People are named by their account: one
-- who leaves the organisation keeps the turn, which then is nobody's.
CREATE TABLE on_call_rotations (
  id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id    integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  schedule_id        bigint NOT NULL REFERENCES on_call_schedules (id) ON DELETE CASCADE,
  user_id            bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  starts_at          timestamptz(3) NOT NULL,
  ends_at            timestamptz(3) NOT NULL CHECK (ends_at > starts_at),
  override_user_id   bigint REFERENCES users (id) ON DELETE SET NULL,
  override_starts_at timestamptz(3),
  override_ends_at   timestamptz(3),
  created_at         timestamptz(3) NOT NULL,
  updated_at         timestamptz(3) NOT NULL,
  CHECK (override_ends_at > override_starts_at)
);

CREATE INDEX on_call_rotations_schedule_idx ON on_call_rotations (schedule_id, ends_at);
CREATE INDEX on_call_rotations_organization_idx ON on_call_rotations (organization_id, id);
CALL restrict_to_organization('on_call_rotations', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE escalation_policies (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  description     text CHECK (char_length(description) <= 2000),
  -- One after the other: {type: "schedule", delaySec, scheduleId} or {type: "user", delaySec, userId}.
  steps           jsonb NOT NULL CHECK (jsonb_typeof(steps) = 'array' AND jsonb_array_length(steps) BETWEEN 1 AND 10),
  -- How often all of them are gone through again when nobody answers.
  repeat          integer NOT NULL DEFAULT 0 CHECK (repeat BETWEEN 0 AND 10),
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL
);

CREATE INDEX escalation_policies_organization_idx ON escalation_policies (organization_id, id);
CALL restrict_to_organization('escalation_policies', 'SELECT, INSERT, UPDATE, DELETE');

-- A policy that something refers to cannot be deleted.
ALTER TABLE monitors ADD FOREIGN KEY (escalation_policy_id) REFERENCES escalation_policies (id);
ALTER TABLE alert_receivers ADD FOREIGN KEY (escalation_policy_id) REFERENCES escalation_policies (id);
-- Of an incident it is the name of what was in force when it opened.
ALTER TABLE incidents ADD FOREIGN KEY (escalation_policy_id) REFERENCES escalation_policies (id) ON DELETE SET NULL;
