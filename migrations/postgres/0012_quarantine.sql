-- Records that reached the server and could not become entries, with their reasons, until they are replayed, discarded
-- or too old. See docs/quarantine.md for the states and who may take a record from one to the next.
CREATE TABLE quarantine_records (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- What the entry is called in the log store that a replay makes of it. Nobody hears of it before, so nobody can have
  -- sent an entry of that name.
  entry_key       uuid NOT NULL DEFAULT gen_random_uuid(),
  -- Of the request's name, the place in it and the record; null for a request without a name.
  record_key      bytea CHECK (octet_length(record_key) = 32),
  format          text NOT NULL,
  -- The configured source it came through. It may be gone by now.
  source_key      text,
  place           text NOT NULL,
  reason          text NOT NULL,
  -- Empty once the record is an entry.
  raw             bytea NOT NULL,
  -- Of the record as it came.
  raw_bytes       integer NOT NULL CHECK (raw_bytes >= 0),
  received_at     timestamptz(3) NOT NULL,
  state           text NOT NULL DEFAULT 'held' CHECK (state IN ('held', 'replaying', 'replayed')),
  -- One step of one replay, and the write-ahead log that it appends to.
  claim_id        uuid,
  claim_log       text,
  claimed_at      timestamptz(3),
  replayed_at     timestamptz(3),
  CHECK ((state = 'replaying') = (claim_id IS NOT NULL AND claim_log IS NOT NULL AND claimed_at IS NOT NULL)),
  CHECK ((state = 'replayed') = (replayed_at IS NOT NULL)),
  CONSTRAINT quarantine_records_key UNIQUE (organization_id, record_key)
);

CREATE INDEX quarantine_records_list_idx ON quarantine_records (organization_id, id);
CREATE INDEX quarantine_records_source_idx ON quarantine_records (organization_id, source_key, id);
CREATE INDEX quarantine_records_received_idx ON quarantine_records (received_at);
CREATE INDEX quarantine_records_replayed_idx ON quarantine_records (replayed_at) WHERE state = 'replayed';
CREATE INDEX quarantine_records_claim_idx ON quarantine_records (claim_log, claim_id) WHERE state = 'replaying';

-- What an organisation has in the quarantine that is not replayed. Locked while records are kept, so that the bounds hold
-- whoever keeps at the same time.
CREATE TABLE quarantine_usage (
  organization_id integer PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  records         bigint NOT NULL CHECK (records >= 0),
  bytes           bigint NOT NULL CHECK (bytes >= 0)
);

CALL restrict_to_organization('quarantine_records', 'SELECT, INSERT, UPDATE, DELETE');
CALL restrict_to_organization('quarantine_usage', 'SELECT, INSERT, UPDATE');
