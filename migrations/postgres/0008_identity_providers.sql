-- Signing in through identity providers: those of the whole server, and those that organisations bring.

-- Sign-ins under way at a provider. A row is used once, by the browser that began, within minutes.
CREATE TABLE authorization_requests (
  state_hash   bytea PRIMARY KEY CHECK (octet_length(state_hash) = 32),
  -- Of the cookie that binds it to one browser.
  browser_hash bytea NOT NULL CHECK (octet_length(browser_hash) = 32),
  -- Encrypted: what it is for, the nonce, the PKCE verifier and where to go afterwards.
  sealed       bytea NOT NULL,
  expires_at   timestamptz(3) NOT NULL
);

CREATE INDEX authorization_requests_expires_at_idx ON authorization_requests (expires_at);

-- Who a person is at the providers of the whole server. It belongs to the person and to no organisation.
CREATE TABLE linked_identities (
  issuer       text NOT NULL CHECK (char_length(issuer) <= 2048),
  subject      text NOT NULL CHECK (char_length(subject) BETWEEN 1 AND 255),
  user_id      bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- As the provider said it last; only for people to recognise.
  email        text CHECK (char_length(email) <= 255),
  created_at   timestamptz(3) NOT NULL,
  last_used_at timestamptz(3),
  PRIMARY KEY (issuer, subject),
  CONSTRAINT linked_identities_user_key UNIQUE (user_id, issuer)
);

-- The provider an organisation signs its people in with.
CREATE TABLE sso_connections (
  organization_id integer PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  slug            text NOT NULL CONSTRAINT sso_connections_slug_key UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9-]{1,62}$'),
  issuer          text NOT NULL CHECK (char_length(issuer) <= 2048),
  client_id       text NOT NULL CHECK (char_length(client_id) BETWEEN 1 AND 255),
  -- Encrypted.
  client_secret   bytea NOT NULL,
  groups_claim    text NOT NULL CHECK (char_length(groups_claim) BETWEEN 1 AND 255),
  -- Group -> role.
  group_roles     jsonb NOT NULL,
  default_role    text NOT NULL CHECK (default_role IN ('viewer', 'member', 'admin', 'owner')),
  enforced        boolean NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL
);

CALL restrict_to_organization('sso_connections', 'SELECT, INSERT, UPDATE, DELETE');

-- The domains whose mailboxes a connection may vouch for, once a DNS record has shown that they are the organisation's.
CREATE TABLE sso_domains (
  organization_id integer NOT NULL REFERENCES sso_connections (organization_id) ON DELETE CASCADE,
  -- In the form in which emails are stored.
  domain          text NOT NULL CHECK (char_length(domain) BETWEEN 3 AND 253),
  -- What the record must say; not a secret.
  challenge       text NOT NULL CHECK (char_length(challenge) = 43),
  verified_at     timestamptz(3),
  created_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, domain)
);

CALL restrict_to_organization('sso_domains', 'SELECT, INSERT, UPDATE, DELETE');

-- Who a member is at the provider of the organisation. It says nothing about the person in other organisations, and
-- ends with the membership.
CREATE TABLE sso_identities (
  organization_id integer NOT NULL REFERENCES sso_connections (organization_id) ON DELETE CASCADE,
  issuer          text NOT NULL CHECK (char_length(issuer) <= 2048),
  subject         text NOT NULL CHECK (char_length(subject) BETWEEN 1 AND 255),
  user_id         bigint NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  last_used_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, issuer, subject),
  CONSTRAINT sso_identities_user_key UNIQUE (organization_id, user_id),
  FOREIGN KEY (organization_id, user_id) REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
);

CREATE INDEX sso_identities_user_id_idx ON sso_identities (user_id);
CALL restrict_to_organization('sso_identities', 'SELECT, DELETE');

-- A session that an organisation's own provider has vouched for is good in that organisation alone.
ALTER TABLE sessions ADD COLUMN by_sso boolean NOT NULL DEFAULT false;
