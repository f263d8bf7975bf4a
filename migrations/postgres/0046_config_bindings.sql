-- Which record a key in files of configuration stands for, and how the record was when they were last applied: from that, the
-- record and the files follow what was changed where. Secrets of it are fingerprints. A record that is gone leaves its row,
-- which says that it was deleted by other means.
CREATE TABLE config_bindings (
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  kind            text NOT NULL,
  key             text NOT NULL,
  record_id       text NOT NULL,
  base            jsonb NOT NULL,
  applied_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, kind, key),
  UNIQUE (organization_id, kind, record_id)
);
CALL restrict_to_organization('config_bindings', 'SELECT, INSERT, UPDATE, DELETE');
