-- Configured sources: under which path a sender's records come in, and what they are made into.
CREATE TABLE ingest_sources (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id  integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  source_key       text NOT NULL CHECK (source_key ~ '^[a-z0-9][a-z0-9-]{1,62}$'),
  name             text NOT NULL,
  format           text NOT NULL CHECK (format IN ('json', 'ndjson', 'cef')),
  -- As it was given: json rather than jsonb keeps the order of the fields.
  mapping          json NOT NULL,
  preset           text,
  status           text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'learning', 'error', 'disabled')),
  -- Why the server itself set the status; null when a person did.
  status_reason    text,
  -- Grows with every change of what instances compile and remember.
  version          bigint NOT NULL DEFAULT 1,
  created_at       timestamptz(3) NOT NULL,
  updated_at       timestamptz(3) NOT NULL,
  last_received_at timestamptz(3),
  accepted         bigint NOT NULL DEFAULT 0,
  rejected         bigint NOT NULL DEFAULT 0,
  quarantined      bigint NOT NULL DEFAULT 0,
  -- The last few records while the source is learning.
  samples          json NOT NULL DEFAULT '[]',
  CONSTRAINT ingest_sources_key UNIQUE (organization_id, source_key)
);

CALL restrict_to_organization('ingest_sources', 'SELECT, INSERT, UPDATE, DELETE');
