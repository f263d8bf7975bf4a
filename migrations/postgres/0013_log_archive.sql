-- How long an organisation's log entries stay in the log store; without a row, or without days, the server's default.
CREATE TABLE log_retention (
  organization_id integer PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  days            integer CHECK (days BETWEEN 0 AND 36500),
  -- [{"service": text | null, "level": text | null, "days": number}], the first that fits counts.
  rules           jsonb NOT NULL CHECK (jsonb_typeof(rules) = 'array'),
  updated_at      timestamptz NOT NULL
);

-- The ledger of the archive: entries of one organisation and one day of receipt that move together.
--   planned:   there is something to move; nothing of it counts yet.
--   committed: the file holds the entries, which was verified, and searches of the archive read it; the log store is
--              letting go of them.
--   done:      the log store has none of them any more.
CREATE TABLE log_archive_units (
  id              integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  day             date NOT NULL,
  state           text NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'committed', 'done')),
  -- The attempt that counts: what an earlier one still does has no effect.
  attempt         bigint,
  file            text,
  rows            bigint,
  bytes           bigint,
  -- Sum of the rows' hashes, modulo 2^64.
  checksum        text,
  -- Nanoseconds since 1970.
  min_ts          bigint,
  max_ts          bigint,
  -- The place among the committed units of the organisation: what a search froze is what came before.
  seq             integer,
  failures        integer NOT NULL DEFAULT 0,
  retry_at        timestamptz NOT NULL,
  created_at      timestamptz NOT NULL,
  done_at         timestamptz,
  CHECK (state = 'planned' OR
         (attempt IS NOT NULL AND file IS NOT NULL AND rows IS NOT NULL AND bytes IS NOT NULL AND
          checksum IS NOT NULL AND min_ts IS NOT NULL AND max_ts IS NOT NULL AND seq IS NOT NULL))
);
-- One at a time, so that no entry is in two of them.
CREATE UNIQUE INDEX log_archive_units_open ON log_archive_units (organization_id, day) WHERE state <> 'done';
CREATE INDEX log_archive_units_due ON log_archive_units (retry_at) WHERE state <> 'done';
CREATE INDEX log_archive_units_newest ON log_archive_units (organization_id, max_ts DESC) WHERE state <> 'planned';
CREATE UNIQUE INDEX log_archive_units_seq ON log_archive_units (organization_id, seq);
CREATE INDEX log_archive_units_day ON log_archive_units (day);

-- Every try to write a file, written down before it begins: what it leaves behind is found and removed by this.
CREATE TABLE log_archive_attempts (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL,
  unit_id         integer NOT NULL,
  file            text NOT NULL,
  started_at      timestamptz NOT NULL
);
CREATE INDEX log_archive_attempts_started ON log_archive_attempts (started_at);

CALL restrict_to_organization('log_retention', 'SELECT, INSERT, UPDATE');
CALL restrict_to_organization('log_archive_units', 'SELECT');
CALL restrict_to_organization('log_archive_attempts', 'SELECT');
