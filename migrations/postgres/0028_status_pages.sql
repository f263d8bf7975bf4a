-- What an organisation tells everyone, and who has asked to be told.

CREATE TABLE status_pages (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id  integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name             text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  slug             text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9-]{1,62}$'),
  description      text CHECK (char_length(description) BETWEEN 1 AND 2000),
  -- In the order in which they are shown; one that is deleted is passed over.
  monitor_ids      jsonb NOT NULL DEFAULT '[]',
  -- [{name, monitorIds}]; monitors of none come first.
  groups           jsonb NOT NULL DEFAULT '[]',
  -- [{monitorId, name}]: what monitors are called here.
  public_names     jsonb NOT NULL DEFAULT '[]',
  custom_domain    text UNIQUE,
  theme            jsonb,
  is_public        boolean NOT NULL DEFAULT true,
  password_hash    text,
  -- Cookies that were given for an older password open nothing.
  password_version integer NOT NULL DEFAULT 0,
  has_password     boolean NOT NULL GENERATED ALWAYS AS (password_hash IS NOT NULL) STORED,
  created_at       timestamptz(3) NOT NULL,
  updated_at       timestamptz(3) NOT NULL
);

CREATE INDEX status_pages_organization_idx ON status_pages (organization_id, id);
CALL restrict_to_organization('status_pages', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE status_page_subscribers (
  id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id      integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  status_page_id       bigint NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
  email                text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254),
  -- Null is everything on the page.
  monitor_ids          jsonb,
  -- The link of the mail that asks; the newest one alone works. Links that end it are signed, for each mail has one.
  confirm_token_hash   bytea CHECK (octet_length(confirm_token_hash) = 32),
  confirmation_sent_at timestamptz(3) NOT NULL,
  confirmed_at         timestamptz(3),
  created_at           timestamptz(3) NOT NULL,
  UNIQUE (status_page_id, email)
);

CREATE INDEX status_page_subscribers_organization_idx ON status_page_subscribers (organization_id);
CREATE INDEX status_page_subscribers_pending_idx ON status_page_subscribers (created_at) WHERE confirmed_at IS NULL;
-- However many pages somebody is to be told of, they are asked now and then only.
CREATE INDEX status_page_subscribers_email_idx ON status_page_subscribers (email, confirmation_sent_at);
CREATE UNIQUE INDEX status_page_subscribers_confirm_idx ON status_page_subscribers (confirm_token_hash);
CALL restrict_to_organization('status_page_subscribers', 'SELECT, INSERT, UPDATE, DELETE');

-- What subscribers are still to be told: one row for each of them and incident, told as it then is, and not more often than
-- every few minutes.
CREATE TABLE status_page_notices (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  subscriber_id   bigint NOT NULL REFERENCES status_page_subscribers (id) ON DELETE CASCADE,
  incident_id     bigint NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  -- Whether something has changed that was not told.
  is_due          boolean NOT NULL,
  -- What was told last: nothing is told twice.
  last_update_id  bigint NOT NULL DEFAULT 0,
  last_status     text,
  claim_id        uuid,
  next_attempt_at timestamptz(3) NOT NULL,
  attempts        integer NOT NULL DEFAULT 0,
  created_at      timestamptz(3) NOT NULL,
  UNIQUE (subscriber_id, incident_id)
);

CREATE INDEX status_page_notices_due_idx ON status_page_notices (next_attempt_at) WHERE is_due;
CREATE INDEX status_page_notices_incident_idx ON status_page_notices (incident_id);
CREATE INDEX status_page_notices_organization_idx ON status_page_notices (organization_id);
CALL restrict_to_organization('status_page_notices', 'SELECT, INSERT, UPDATE, DELETE');
