-- Time in which work is announced: checks go on, nobody is told, and objectives do not count it.
CREATE TABLE maintenance_windows (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- Null for every monitor of the organisation.
  monitor_id      bigint REFERENCES monitors (id) ON DELETE CASCADE,
  title           text CHECK (char_length(title) BETWEEN 1 AND 255),
  starts_at       timestamptz(3) NOT NULL,
  -- The window is half-open.
  ends_at         timestamptz(3) NOT NULL CHECK (ends_at > starts_at),
  -- When its end was looked at: what is still true then is told once.
  settled_at      timestamptz(3),
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL
);

CREATE INDEX maintenance_windows_organization_idx ON maintenance_windows (organization_id, ends_at);
CREATE INDEX maintenance_windows_unsettled_idx ON maintenance_windows (ends_at) WHERE settled_at IS NULL;
CALL restrict_to_organization('maintenance_windows', 'SELECT, INSERT, UPDATE, DELETE');
