-- What an organisation pays for models: each change is another version, and the latest holds.
CREATE TABLE model_prices (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  version         integer NOT NULL,
  -- In US dollars for a million tokens, by the names of models.
  prices          jsonb NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  UNIQUE (organization_id, version)
);
CALL restrict_to_organization('model_prices', 'SELECT, INSERT');
