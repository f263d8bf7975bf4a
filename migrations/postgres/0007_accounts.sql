-- Mail that waits to be sent, links that people are mailed, and second factors.

-- Written in the transaction of what causes the mail. A row is sent at least once and then gone.
CREATE TABLE mail_outbox (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Encrypted, recipient included: mails carry links that let their reader in.
  sealed          bytea NOT NULL,
  attempts        integer NOT NULL DEFAULT 0,
  created_at      timestamptz(3) NOT NULL,
  -- When it is due; a sender that takes it moves this beyond the time that sending takes.
  next_attempt_at timestamptz(3) NOT NULL,
  -- When it has lost its use, as a link in it has expired.
  expires_at      timestamptz(3) NOT NULL
);

CREATE INDEX mail_outbox_due_idx ON mail_outbox (next_attempt_at, id);

-- What is done for an organisation may send mail and not read any.
ALTER TABLE mail_outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY enqueue ON mail_outbox FOR INSERT TO obs_organization WITH CHECK (true);
GRANT INSERT ON mail_outbox TO obs_organization;

-- Requests for a link, written for every address that is asked for. Whether it has an account is looked up later, so
-- that answering takes the same time either way.
CREATE TABLE link_requests (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  purpose      text NOT NULL CHECK (purpose IN ('reset-password', 'verify-email')),
  email        text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 255),
  -- Who asked, for the audit log.
  ip           text NOT NULL,
  user_agent   text,
  requested_at timestamptz(3) NOT NULL
);

-- What mailed links carry, as hashes.
CREATE TABLE link_tokens (
  token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
  purpose    text NOT NULL CHECK (purpose IN ('reset-password', 'verify-email')),
  user_id    bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL
);

CREATE INDEX link_tokens_user_idx ON link_tokens (user_id, purpose, created_at);

ALTER TABLE users ADD COLUMN email_verified_at timestamptz(3);

-- The second factor of a person.
CREATE TABLE totp_factors (
  user_id    bigint PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- Encrypted.
  secret     bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  -- Null until a code has shown that the person's device has the secret; asked for at login from then on.
  enabled_at timestamptz(3),
  -- The time step of the last code that was accepted: it and those before it are refused.
  last_step  bigint NOT NULL DEFAULT 0,
  -- Wrong codes on the day (UTC) of the last one, counted here so that all instances count together and for long
  -- enough: who knows the password and guesses for a year must still find nothing.
  failures   integer NOT NULL DEFAULT 0,
  failed_on  date
);

CREATE TABLE recovery_codes (
  user_id   bigint NOT NULL REFERENCES totp_factors (user_id) ON DELETE CASCADE,
  -- The first character of the code; it says which hash a code is compared with, and is not part of the secret.
  slot      text NOT NULL CHECK (char_length(slot) = 1),
  -- argon2id of the rest, in the PHC format. A code that is used is gone.
  code_hash text NOT NULL,
  PRIMARY KEY (user_id, slot)
);
