-- Who is told of what, one row for each message to each receiver, written in the transaction of what it tells.
CREATE TABLE deliveries (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  incident_id     bigint REFERENCES incidents (id) ON DELETE CASCADE,
  -- What it tells, as `event:812`, `page:12:0:0:1:7`, `test:<uuid>`: told again it is the same row.
  event_id        text NOT NULL CHECK (char_length(event_id) <= 128),
  channel         text NOT NULL,
  -- The receiver without saying who it is: what is owed to one receiver is sent in order and not too often.
  target_hash     bytea NOT NULL CHECK (octet_length(target_hash) = 32),
  -- Where it is sent to, as far as one that hangs must not hold others up: a host.
  lane            text NOT NULL,
  -- Pages of people go before everything else.
  priority        smallint NOT NULL DEFAULT 1,
  -- The receiver and the message.
  sealed          bytea NOT NULL,
  state           text NOT NULL DEFAULT 'pending'
                  CHECK (state IN ('pending', 'delivered', 'failed', 'suppressed', 'superseded')),
  attempts        integer NOT NULL DEFAULT 0,
  claim_id        uuid,
  -- When it is due, and while it is held until when it is.
  next_attempt_at timestamptz(3) NOT NULL,
  last_code       integer,
  last_error      text,
  created_at      timestamptz(3) NOT NULL,
  delivered_at    timestamptz(3),
  -- It was one of several that were told in one message.
  in_digest       boolean NOT NULL DEFAULT false,
  UNIQUE (event_id, channel, target_hash)
);

CREATE INDEX deliveries_due_idx ON deliveries (priority, next_attempt_at) WHERE state = 'pending';
CREATE INDEX deliveries_order_idx ON deliveries (incident_id, target_hash, id) WHERE state = 'pending';
CREATE INDEX deliveries_rate_idx ON deliveries (target_hash, delivered_at);
CREATE INDEX deliveries_incident_idx ON deliveries (organization_id, incident_id, id);
CREATE INDEX deliveries_created_idx ON deliveries (created_at);
CALL restrict_to_organization('deliveries', 'SELECT, INSERT, UPDATE, DELETE');

-- Whom an organisation tells where nothing else is said, and whom its incidents reach.
CREATE TABLE alert_defaults (
  organization_id      integer PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  alert_email          text,
  sealed_channels      bytea,
  channels             text[] NOT NULL DEFAULT '{}',
  -- Receivers whose messages are made from a template.
  sealed_templates     bytea,
  template_names       text[] NOT NULL DEFAULT '{}',
  escalation_policy_id bigint REFERENCES escalation_policies (id),
  updated_at           timestamptz(3) NOT NULL
);

CALL restrict_to_organization('alert_defaults', 'SELECT, INSERT, UPDATE, DELETE');

-- How people are reached besides the mail of their account.
CREATE TABLE contact_methods (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL,
  user_id         bigint NOT NULL,
  kind            text NOT NULL CHECK (kind IN ('email', 'sms', 'voice', 'template')),
  -- What people recognise it by; nothing of a secret.
  label           text NOT NULL CHECK (char_length(label) BETWEEN 1 AND 255),
  sealed          bytea NOT NULL,
  -- Of the code that proves whose it is; null once it has been shown.
  code_hash       bytea CHECK (octet_length(code_hash) = 32),
  code_expires_at timestamptz(3),
  code_attempts   integer NOT NULL DEFAULT 0,
  verified_at     timestamptz(3),
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  FOREIGN KEY (organization_id, user_id) REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
);

CREATE INDEX contact_methods_user_idx ON contact_methods (organization_id, user_id, id);
CALL restrict_to_organization('contact_methods', 'SELECT, INSERT, UPDATE, DELETE');

-- How far the escalation of an incident has come.
CREATE TABLE escalations (
  incident_id     bigint NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  -- The how manieth time of the incident being open.
  run             integer NOT NULL,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- The policy as it was then.
  policy          jsonb NOT NULL,
  step            integer NOT NULL DEFAULT 0,
  cycle           integer NOT NULL DEFAULT 0,
  state           text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'answered', 'exhausted', 'over')),
  -- When the next step is due.
  next_at         timestamptz(3) NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (incident_id, run)
);

CREATE INDEX escalations_due_idx ON escalations (next_at) WHERE state = 'running';
CREATE INDEX escalations_organization_idx ON escalations (organization_id);
CALL restrict_to_organization('escalations', 'SELECT, INSERT, UPDATE, DELETE');
