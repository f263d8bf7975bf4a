-- People, the organisations they belong to, and the two kinds of credential bound to one membership.

-- The id is what every stored log row carries as UInt32.
CREATE TABLE organizations (
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  created_at timestamptz(3) NOT NULL
);

CREATE TABLE users (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Normalised by the server before it is stored or compared: one spelling per mailbox.
  email         text NOT NULL CONSTRAINT users_email_key UNIQUE CHECK (char_length(email) BETWEEN 3 AND 255),
  -- argon2id in the PHC format; null for a person who signs in through an identity provider only.
  password_hash text,
  created_at    timestamptz(3) NOT NULL
);

CREATE TABLE memberships (
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  user_id         bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role            text NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
  created_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, user_id)
);

CREATE INDEX memberships_user_id_idx ON memberships (user_id, created_at, organization_id);

-- Both credentials hang on the membership: a person who leaves loses them at once, and being
-- invited again brings none of them back.
CREATE TABLE sessions (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  token_hash      bytea NOT NULL CONSTRAINT sessions_token_hash_key UNIQUE CHECK (octet_length(token_hash) = 32),
  organization_id integer NOT NULL,
  user_id         bigint NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  last_used_at    timestamptz(3) NOT NULL,
  expires_at      timestamptz(3) NOT NULL,
  FOREIGN KEY (organization_id, user_id) REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
);

CREATE INDEX sessions_user_id_idx ON sessions (user_id, last_used_at);
CREATE INDEX sessions_membership_idx ON sessions (organization_id, user_id);

CREATE TABLE personal_access_tokens (
  id                    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  token_hash            bytea NOT NULL CONSTRAINT personal_access_tokens_token_hash_key UNIQUE
                        CHECK (octet_length(token_hash) = 32),
  organization_id       integer NOT NULL,
  user_id               bigint NOT NULL,
  name                  text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  -- The first characters of the plaintext, so that a person recognises the token in a list.
  prefix                text NOT NULL CHECK (char_length(prefix) = 12),
  scopes                text[] NOT NULL CHECK (cardinality(scopes) >= 1),
  daily_mutation_limit  bigint CHECK (daily_mutation_limit >= 0),
  daily_log_bytes_limit bigint CHECK (daily_log_bytes_limit >= 0),
  created_at            timestamptz(3) NOT NULL,
  expires_at            timestamptz(3),
  last_used_at          timestamptz(3),
  revoked_at            timestamptz(3),
  FOREIGN KEY (organization_id, user_id) REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
);

CREATE INDEX personal_access_tokens_owner_idx ON personal_access_tokens (organization_id, user_id, id)
  WHERE revoked_at IS NULL;
