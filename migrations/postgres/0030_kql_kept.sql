-- Functions in KQL that an organisation keeps under a name.
CREATE TABLE kql_functions (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 128),
  description     text CHECK (char_length(description) <= 2000),
  parameters      text NOT NULL CHECK (char_length(parameters) <= 2048),
  body            text NOT NULL CHECK (char_length(body) BETWEEN 1 AND 8192),
  -- From 1; another parameter or body is another version.
  version         integer NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  UNIQUE (organization_id, name)
);

CREATE INDEX kql_functions_organization_idx ON kql_functions (organization_id, id);
CALL restrict_to_organization('kql_functions', 'SELECT, INSERT, UPDATE, DELETE');

-- What they were and are, as long as they are kept.
CREATE TABLE kql_function_versions (
  function_id     bigint NOT NULL REFERENCES kql_functions (id) ON DELETE CASCADE,
  version         integer NOT NULL,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  parameters      text NOT NULL,
  body            text NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (function_id, version)
);

CREATE INDEX kql_function_versions_organization_idx ON kql_function_versions (organization_id);
CALL restrict_to_organization('kql_function_versions', 'SELECT, INSERT, DELETE');

-- Tables that an organisation keeps for its queries. The rows lie in the log store, under the number of a set.
CREATE TABLE kql_tables (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 128),
  -- [{"name": "host", "type": "string"}, ...]
  columns         jsonb NOT NULL,
  rows            integer NOT NULL,
  bytes           integer NOT NULL,
  -- From 1; other rows are another version.
  version         integer NOT NULL,
  rows_id         bigint NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  UNIQUE (organization_id, name)
);

CREATE INDEX kql_tables_organization_idx ON kql_tables (organization_id, id);
CREATE INDEX kql_tables_rows_idx ON kql_tables (rows_id);
CALL restrict_to_organization('kql_tables', 'SELECT, INSERT, UPDATE, DELETE');

-- Sets of rows in the log store, written down before the rows are: whatever dies, none of them stays there for nothing.
-- A set that no table has is removed when its time is over. It outlives its organisation.
CREATE TABLE kept_row_sets (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL,
  expires_at      timestamptz(3) NOT NULL
);

CREATE INDEX kept_row_sets_expires_idx ON kept_row_sets (expires_at);
CALL restrict_to_organization('kept_row_sets', 'SELECT, INSERT, UPDATE');
