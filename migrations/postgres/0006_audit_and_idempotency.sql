-- Who changed what. Each row carries the hash of the one before it in its organisation, so that an edit, a removal
-- or an insertion shows; see src/audit/chain.ts for what is hashed. People and tokens may be gone by the time somebody
-- reads it, so nothing here refers to them.
CREATE TABLE audit_log (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- From 1 in each organisation, without gaps.
  seq             bigint NOT NULL CHECK (seq > 0),
  created_at      timestamptz(3) NOT NULL,
  actor_user_id   bigint,
  actor_token_id  bigint,
  actor_email     text NOT NULL,
  action          text NOT NULL,
  resource        text NOT NULL,
  meta            jsonb NOT NULL,
  hash            bytea NOT NULL CHECK (octet_length(hash) = 32),
  CONSTRAINT audit_log_seq_key UNIQUE (organization_id, seq)
);

CREATE INDEX audit_log_time_idx ON audit_log (organization_id, created_at, seq);
CREATE INDEX audit_log_action_idx ON audit_log (organization_id, action, seq);
CREATE INDEX audit_log_actor_idx ON audit_log (organization_id, actor_user_id, seq);
CREATE INDEX audit_log_token_idx ON audit_log (organization_id, actor_token_id, seq) WHERE actor_token_id IS NOT NULL;

-- The end of each chain. Locked while a row is appended, which is the last thing a transaction does.
CREATE TABLE audit_heads (
  organization_id integer PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  seq             bigint NOT NULL,
  hash            bytea NOT NULL CHECK (octet_length(hash) = 32),
  -- How far ClickHouse has been told.
  anchored_seq    bigint NOT NULL DEFAULT 0
);

CREATE INDEX audit_heads_unanchored_idx ON audit_heads (organization_id) WHERE anchored_seq < seq;

-- Rows are added and read, never changed, by what the server does for an organisation.
CALL restrict_to_organization('audit_log', 'SELECT, INSERT');
CALL restrict_to_organization('audit_heads', 'SELECT, INSERT, UPDATE');

-- Answers remembered for the requests that carried an Idempotency-Key. The answer is kept in the transaction of the
-- change itself, so that a crash leaves both or neither.
CREATE TABLE idempotency_keys (
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- Whose keys they are: `token:17`, or `user:5` for all sessions of a person.
  credential      text NOT NULL,
  key_hash        bytea NOT NULL CHECK (octet_length(key_hash) = 32),
  -- Of method, path and body.
  fingerprint     bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  -- Which execution holds the key; one that lost it to another cannot complete.
  attempt         uuid NOT NULL,
  -- Until when that execution is believed to be alive.
  leased_until    timestamptz(3) NOT NULL,
  -- Encrypted, for it may hold a secret that is shown once; null until the request is answered.
  answer          bytea,
  expires_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (organization_id, credential, key_hash)
);

CREATE INDEX idempotency_keys_expires_at_idx ON idempotency_keys (expires_at);
CALL restrict_to_organization('idempotency_keys', 'SELECT, UPDATE');

-- What tokens with a daily cap have used, by days of UTC.
CREATE TABLE token_usage (
  token_id        bigint NOT NULL REFERENCES personal_access_tokens (id) ON DELETE CASCADE,
  organization_id integer NOT NULL,
  day             date NOT NULL,
  mutations       bigint NOT NULL DEFAULT 0,
  log_bytes       bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (token_id, day)
);

CREATE INDEX token_usage_day_idx ON token_usage (day);
CALL restrict_to_organization('token_usage', 'SELECT');

-- What organisations have used of their plan, by months of UTC; counted while the plan has a limit.
CREATE TABLE organization_usage (
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  month           date NOT NULL CHECK (extract(day FROM month) = 1),
  checks          bigint NOT NULL DEFAULT 0,
  log_bytes       bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, month)
);

CALL restrict_to_organization('organization_usage', 'SELECT');

-- Which key the secrets of this database are encrypted with, so that an instance with another one does not start.
CREATE TABLE secret_key (
  only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  fingerprint text NOT NULL
);
