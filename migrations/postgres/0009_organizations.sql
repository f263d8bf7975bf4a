-- Invitations into an organisation. They hang on the membership of the person who invites: who leaves takes back what
-- has not been accepted. One that is accepted or taken back is gone.
CREATE TABLE invites (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL,
  -- Normalised like that of a person, with whose it is compared.
  email           text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 255),
  role            text NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
  token_hash      bytea NOT NULL CONSTRAINT invites_token_hash_key UNIQUE CHECK (octet_length(token_hash) = 32),
  invited_by      bigint NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  expires_at      timestamptz(3) NOT NULL,
  CONSTRAINT invites_email_key UNIQUE (organization_id, email),
  FOREIGN KEY (organization_id, invited_by) REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
);

CREATE INDEX invites_invited_by_idx ON invites (organization_id, invited_by);
CALL restrict_to_organization('invites', 'SELECT, INSERT, DELETE');

-- What an organisation signs its outgoing webhooks with: the present secret and those it replaced, which go on for a
-- while so that receivers have time to change.
CREATE TABLE webhook_secrets (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- Encrypted.
  secret          bytea NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  -- Null for the present one.
  expires_at      timestamptz(3)
);

CREATE UNIQUE INDEX webhook_secrets_present_key ON webhook_secrets (organization_id) WHERE expires_at IS NULL;
CREATE INDEX webhook_secrets_organization_idx ON webhook_secrets (organization_id, id);
CALL restrict_to_organization('webhook_secrets', 'SELECT, INSERT, UPDATE, DELETE');
