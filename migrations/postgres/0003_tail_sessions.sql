-- Live tails: a filter under a token of its own, which opens the stream and opens it again after a break, on any
-- instance. A session ends with the credential that made it.
CREATE TABLE tail_sessions (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  token_hash      bytea NOT NULL CONSTRAINT tail_sessions_token_hash_key UNIQUE CHECK (octet_length(token_hash) = 32),
  organization_id integer NOT NULL,
  user_id         bigint NOT NULL,
  -- The credential: exactly one of the two.
  token_id        bigint REFERENCES personal_access_tokens (id) ON DELETE CASCADE,
  session_id      bigint REFERENCES sessions (id) ON DELETE CASCADE,
  -- The parameters as they were given: q, query, service, level.
  filter          jsonb NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  -- An hour after the last use.
  expires_at      timestamptz(3) NOT NULL,
  CHECK (num_nonnulls(token_id, session_id) = 1),
  FOREIGN KEY (organization_id, user_id) REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
);

CREATE INDEX tail_sessions_organization_idx ON tail_sessions (organization_id, expires_at);
CREATE INDEX tail_sessions_expires_at_idx ON tail_sessions (expires_at);
CREATE INDEX tail_sessions_token_id_idx ON tail_sessions (token_id) WHERE token_id IS NOT NULL;
CREATE INDEX tail_sessions_session_id_idx ON tail_sessions (session_id) WHERE session_id IS NOT NULL;
