-- Questions about logs that an organisation keeps under a name.
CREATE TABLE saved_searches (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  description     text CHECK (char_length(description) <= 2000),
  query           text CHECK (char_length(query) <= 2048),
  q               text CHECK (char_length(q) <= 1024),
  service         text CHECK (char_length(service) <= 255),
  level           text CHECK (char_length(level) <= 64),
  range_minutes   integer CHECK (range_minutes BETWEEN 1 AND 43200),
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL
);

CREATE INDEX saved_searches_organization_idx ON saved_searches (organization_id, id);
