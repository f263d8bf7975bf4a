-- Indicators come some at a time: by hand one, by an import or a feed many. Seals look for them from a revision on; in what was
-- found before it they are looked for once.
CREATE TABLE ioc_batches (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- Null until all of the batch is written.
  from_revision   bigint,
  hunted          boolean NOT NULL DEFAULT false,
  -- The last indicator that was looked for in the past.
  hunted_through  bigint NOT NULL DEFAULT 0
);

CREATE INDEX ioc_batches_due_idx ON ioc_batches (id) WHERE NOT hunted AND from_revision IS NOT NULL;
CREATE INDEX ioc_batches_organization_idx ON ioc_batches (organization_id);
CALL restrict_to_organization('ioc_batches', 'SELECT, INSERT, UPDATE, DELETE');

INSERT INTO job_turns (name, next_attempt_at) VALUES ('ioc-retro-hunt', now());

-- Lists of indicators that others keep.
CREATE TABLE ioc_feeds (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  url             text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2048),
  format          text NOT NULL CHECK (format IN ('csv', 'stix', 'misp')),
  interval_sec    integer NOT NULL,
  severity        text CHECK (severity IN ('low', 'medium', 'high', 'critical')),
  enabled         boolean NOT NULL DEFAULT true,
  -- What the next request says of what is known.
  etag            text,
  last_modified   text,
  last_fetch_at   timestamptz(3),
  status          text NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'ok', 'unchanged', 'failed')),
  last_error      text,
  -- Of the latest fetch that brought something.
  added           integer NOT NULL DEFAULT 0,
  updated         integer NOT NULL DEFAULT 0,
  expired         integer NOT NULL DEFAULT 0,
  rejected        integer NOT NULL DEFAULT 0,
  claim_id        uuid,
  next_fetch_at   timestamptz(3) NOT NULL DEFAULT now(),
  attempts        integer NOT NULL DEFAULT 0,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  UNIQUE (organization_id, name)
);

CREATE INDEX ioc_feeds_organization_idx ON ioc_feeds (organization_id, id);
CREATE INDEX ioc_feeds_due_idx ON ioc_feeds (next_fetch_at) WHERE enabled;
CALL restrict_to_organization('ioc_feeds', 'SELECT, INSERT, UPDATE, DELETE');

-- Addresses, domains and hashes that an organisation looks for in its entries.
CREATE TABLE iocs (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  type            text NOT NULL CHECK (type IN ('ip', 'domain', 'hash')),
  -- In its one spelling; see src/entities/indicators/indicator-value.ts.
  value           text NOT NULL CHECK (char_length(value) BETWEEN 1 AND 512),
  -- Of a range of addresses.
  prefix_bits     smallint,
  severity        text CHECK (severity IN ('low', 'medium', 'high', 'critical')),
  description     text CHECK (char_length(description) <= 2048),
  expires_at      timestamptz(3),
  confidence      smallint CHECK (confidence BETWEEN 0 AND 100),
  source          text CHECK (char_length(source) <= 255),
  feed_id         bigint REFERENCES ioc_feeds (id) ON DELETE SET NULL,
  batch_id        bigint NOT NULL REFERENCES ioc_batches (id),
  hits            bigint NOT NULL DEFAULT 0,
  first_hit_at    timestamptz(3),
  last_hit_at     timestamptz(3),
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  UNIQUE (organization_id, type, value)
);

CREATE INDEX iocs_organization_idx ON iocs (organization_id, id);
CREATE INDEX iocs_prefix_idx ON iocs (organization_id, prefix_bits) WHERE prefix_bits IS NOT NULL;
CREATE INDEX iocs_batch_idx ON iocs (batch_id, id);
CREATE INDEX iocs_feed_idx ON iocs (feed_id) WHERE feed_id IS NOT NULL;
CALL restrict_to_organization('iocs', 'SELECT, INSERT, UPDATE, DELETE');

-- What is shared by so many that finding it says nothing.
CREATE TABLE ioc_allow_list (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  type            text NOT NULL CHECK (type IN ('ip', 'domain', 'hash')),
  value           text NOT NULL CHECK (char_length(value) BETWEEN 1 AND 512),
  note            text CHECK (char_length(note) <= 255),
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  UNIQUE (organization_id, type, value)
);

CALL restrict_to_organization('ioc_allow_list', 'SELECT, INSERT, UPDATE, DELETE');

-- Where an indicator was found: on which machine, or where none is said in which service.
CREATE TABLE ioc_hits (
  ioc_id          bigint NOT NULL REFERENCES iocs (id) ON DELETE CASCADE,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  entity_type     text NOT NULL,
  entity_key      text NOT NULL CHECK (char_length(entity_key) <= 512),
  -- What was found, which for a range or a domain is something inside of it.
  found           text NOT NULL CHECK (char_length(found) <= 512),
  n               bigint NOT NULL,
  first_at        timestamptz(3) NOT NULL,
  last_at         timestamptz(3) NOT NULL,
  sample_id       text NOT NULL,
  -- When somebody was told, and whether there is something to tell.
  told_at         timestamptz(3),
  is_due          boolean NOT NULL,
  PRIMARY KEY (ioc_id, entity_type, entity_key)
);

CREATE INDEX ioc_hits_due_idx ON ioc_hits (organization_id) WHERE is_due;
CREATE INDEX ioc_hits_entity_idx ON ioc_hits (organization_id, entity_type, entity_key);
CALL restrict_to_organization('ioc_hits', 'SELECT, INSERT, UPDATE, DELETE');

-- Hits by hour of finding, for the last day's sum.
CREATE TABLE ioc_hit_hours (
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  feed_id         bigint NOT NULL,
  hour            timestamptz(3) NOT NULL,
  n               bigint NOT NULL,
  PRIMARY KEY (organization_id, feed_id, hour)
);
CALL restrict_to_organization('ioc_hit_hours', 'SELECT');
