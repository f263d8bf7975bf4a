-- What is watched, what is known of it, and how the work of watching is shared.

-- What people have set. Secrets are sealed: headers, bodies, steps, the channels of alerts, the token of heartbeats.
CREATE TABLE monitors (
  id                        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id           integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name                      text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  url                       text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2048),
  type                      text NOT NULL,
  interval_sec              integer NOT NULL,
  timeout_ms                integer NOT NULL CHECK (timeout_ms BETWEEN 1000 AND 30000),
  -- Used after a failure; null is the interval.
  retry_interval_sec        integer CHECK (retry_interval_sec BETWEEN 5 AND 3600),
  method                    text,
  sealed_body               bytea,
  follow_redirects          boolean,
  tls_skip_verify           boolean,
  sealed_headers            bytea,
  expected_status_code      integer CHECK (expected_status_code BETWEEN 100 AND 599),
  degraded_response_time_ms integer CHECK (degraded_response_time_ms BETWEEN 100 AND 60000),
  port                      integer CHECK (port BETWEEN 1 AND 65535),
  keyword                   text,
  keyword_match_type        text CHECK (keyword_match_type IN ('contains', 'not_contains')),
  expiry_warn_days          integer NOT NULL DEFAULT 14 CHECK (expiry_warn_days BETWEEN 1 AND 90),
  sealed_steps              bytea,
  alert_threshold           integer NOT NULL DEFAULT 2 CHECK (alert_threshold BETWEEN 1 AND 10),
  recovery_threshold        integer NOT NULL DEFAULT 1 CHECK (recovery_threshold BETWEEN 1 AND 10),
  alert_on_degraded         boolean NOT NULL DEFAULT false,
  remind_every_sec          integer,
  alert_email               text,
  sealed_channels           bytea,
  -- Which of the sealed channels are set.
  channels                  text[] NOT NULL DEFAULT '{}',
  escalation_policy_id      bigint,
  paused                    boolean NOT NULL DEFAULT false,
  -- When it was last taken up again: a heartbeat is not late for the time in which nobody watched.
  resumed_at                timestamptz(3),
  heartbeat_grace_sec       integer NOT NULL DEFAULT 60 CHECK (heartbeat_grace_sec BETWEEN 0 AND 86400),
  heartbeat_token_hash      bytea NOT NULL UNIQUE CHECK (octet_length(heartbeat_token_hash) = 32),
  sealed_heartbeat_token    bytea NOT NULL,
  uptime_target_bp          integer NOT NULL DEFAULT 9990 CHECK (uptime_target_bp BETWEEN 1 AND 10000),
  uptime_window_days        integer NOT NULL DEFAULT 30 CHECK (uptime_window_days BETWEEN 1 AND 365),
  tags                      text[] NOT NULL DEFAULT '{}',
  -- Null is this server's own region.
  regions                   text[],
  -- The monitors of a shard are run by one instance at a time.
  shard                     smallint NOT NULL GENERATED ALWAYS AS ((id % 64)::smallint) STORED,
  created_at                timestamptz(3) NOT NULL,
  updated_at                timestamptz(3) NOT NULL
);

CREATE INDEX monitors_organization_idx ON monitors (organization_id, id);
CREATE INDEX monitors_tags_idx ON monitors USING gin (tags);
CREATE INDEX monitors_shard_idx ON monitors (shard, id);
-- Whoever runs a shard asks what has changed since it last looked.
CREATE INDEX monitors_updated_idx ON monitors (updated_at);
CALL restrict_to_organization('monitors', 'SELECT, INSERT, UPDATE, DELETE');

-- What is known of a monitor now: written with every round, and narrow so that the page has room for the next version.
CREATE TABLE monitor_state (
  monitor_id            bigint PRIMARY KEY REFERENCES monitors (id) ON DELETE CASCADE,
  organization_id       integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- The round that was last recorded, by the time it was due, in milliseconds since 1970.
  last_slot             bigint NOT NULL DEFAULT 0,
  -- When it is due next; 0 is at once, as it is after the monitor was made or resumed.
  next_slot             bigint NOT NULL DEFAULT 0,
  -- The verdict of the last round that had one, and when that was.
  last_status           text CHECK (last_status IN ('up', 'degraded', 'down')),
  last_checked_at       timestamptz(3),
  -- What alerts, pages and uptime go by, and since when; null before the first verdict.
  confirmed             text CHECK (confirmed IN ('up', 'degraded', 'down')),
  confirmed_at          timestamptz(3),
  failures              integer NOT NULL DEFAULT 0,
  slow_rounds           integer NOT NULL DEFAULT 0,
  successes             integer NOT NULL DEFAULT 0,
  -- When the rounds began that are not confirmed yet: what is confirmed is dated back to it.
  run_started_at        timestamptz(3),
  -- Rounds without a verdict, and since when.
  unknown_rounds        integer NOT NULL DEFAULT 0,
  unknown_since         timestamptz(3),
  last_error            text,
  -- What was last told: the state that is compared when maintenance ends.
  told                  text NOT NULL DEFAULT 'up' CHECK (told IN ('up', 'degraded', 'down')),
  told_at               timestamptz(3),
  heartbeat_received_at timestamptz(3),
  -- The one that was last taken into account.
  heartbeat_seen_at     timestamptz(3),
  heartbeat_started_at  timestamptz(3),
  heartbeat_failed      boolean NOT NULL DEFAULT false,
  certificate_not_after timestamptz(3),
  certificate_told      boolean NOT NULL DEFAULT false,
  slo_breach_open       boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);

CALL restrict_to_organization('monitor_state', 'SELECT, INSERT, UPDATE, DELETE');

-- The confirmed states of a monitor, one after the other and without gaps: uptime, objectives and bars of pages.
CREATE TABLE monitor_periods (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- Of the row that whoever writes periods has locked, so that nobody waits for the monitor's own row.
  monitor_id      bigint NOT NULL REFERENCES monitor_state (monitor_id) ON DELETE CASCADE,
  -- `paused` and `unknown` are time of which nothing is known; it counts neither for nor against.
  status          text NOT NULL CHECK (status IN ('up', 'degraded', 'down', 'paused', 'unknown')),
  started_at      timestamptz(3) NOT NULL,
  -- Null for the one that goes on.
  ended_at        timestamptz(3) CHECK (ended_at >= started_at)
);

CREATE UNIQUE INDEX monitor_periods_open_idx ON monitor_periods (monitor_id) WHERE ended_at IS NULL;
CREATE INDEX monitor_periods_monitor_idx ON monitor_periods (monitor_id, started_at);
CREATE INDEX monitor_periods_organization_idx ON monitor_periods (organization_id);
CALL restrict_to_organization('monitor_periods', 'SELECT, INSERT, UPDATE, DELETE');

-- Which instance runs which monitors. The owner is its data directory, so that a restart takes its own back at once; a commit
-- that names an epoch that is over writes nothing.
CREATE TABLE monitor_shards (
  shard        smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
  owner        uuid,
  epoch        bigint NOT NULL DEFAULT 0,
  leased_until timestamptz(3) NOT NULL DEFAULT '-infinity',
  -- Since when somebody has run it, one instance or another: before, no heartbeat may have been taken in.
  run_since    timestamptz(3) NOT NULL DEFAULT '-infinity'
);

INSERT INTO monitor_shards (shard) SELECT generate_series(0, 63);

-- Who runs monitors at all: shards are shared out among those that were seen lately, also to one that has none yet.
CREATE TABLE monitor_runners (
  owner      uuid PRIMARY KEY,
  seen_until timestamptz(3) NOT NULL
);

-- Results on their way into the log store, written with the state that they led to. Those that go together have one claim,
-- which stays with them when they are tried again: it is the token by which the store tells a repeated insert.
CREATE TABLE check_batches (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- A line of JSON each.
  rows            bytea NOT NULL,
  count           integer NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  claim_id        uuid,
  next_attempt_at timestamptz(3) NOT NULL,
  attempts        integer NOT NULL DEFAULT 0
);

CREATE INDEX check_batches_unclaimed_idx ON check_batches (id) WHERE claim_id IS NULL;
CREATE INDEX check_batches_claim_idx ON check_batches (claim_id) WHERE claim_id IS NOT NULL;

-- What probes in other regions found, until the round that it belongs to is written down, and for as long afterwards as it
-- may be sent again.
CREATE TABLE probe_results (
  monitor_id      bigint NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  region          text NOT NULL,
  slot            bigint NOT NULL,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  result          jsonb NOT NULL,
  received_at     timestamptz(3) NOT NULL,
  is_taken        boolean NOT NULL DEFAULT false,
  PRIMARY KEY (monitor_id, region, slot)
);

CREATE INDEX probe_results_waiting_idx ON probe_results (received_at) WHERE NOT is_taken;
CREATE INDEX probe_results_received_idx ON probe_results (received_at);
CREATE INDEX probe_results_organization_idx ON probe_results (organization_id);
CALL restrict_to_organization('probe_results', 'SELECT, DELETE');

-- Whether the owners know that the checks of the month are used up.
ALTER TABLE organization_usage ADD COLUMN checks_told boolean NOT NULL DEFAULT false;
