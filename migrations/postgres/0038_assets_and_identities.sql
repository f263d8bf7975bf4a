-- What an organisation knows about its machines.
CREATE TABLE assets (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- An address in its one spelling.
  ip              text NOT NULL CHECK (char_length(ip) BETWEEN 1 AND 45),
  hostname        text CHECK (char_length(hostname) <= 255),
  owner           text CHECK (char_length(owner) <= 255),
  criticality     text CHECK (criticality IN ('low', 'medium', 'high', 'critical')),
  tags            text[] NOT NULL DEFAULT '{}',
  notes           text CHECK (char_length(notes) <= 2048),
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  UNIQUE (organization_id, ip)
);

CREATE INDEX assets_organization_idx ON assets (organization_id, id);
CALL restrict_to_organization('assets', 'SELECT, INSERT, UPDATE, DELETE');

-- And about people and programs that sign in.
CREATE TABLE identities (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- As it was written; two that differ in their letters' case alone are one.
  principal       text NOT NULL CHECK (char_length(principal) BETWEEN 1 AND 255),
  display_name    text CHECK (char_length(display_name) <= 255),
  is_internal     boolean,
  risk            text CHECK (risk IN ('low', 'medium', 'high')),
  tags            text[] NOT NULL DEFAULT '{}',
  -- Other names of the same one.
  aliases         text[] NOT NULL DEFAULT '{}',
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL
);

CREATE UNIQUE INDEX identities_principal_idx ON identities (organization_id, lower(principal));
CREATE INDEX identities_organization_idx ON identities (organization_id, id);
CALL restrict_to_organization('identities', 'SELECT, INSERT, UPDATE, DELETE');

-- Whatever an organisation's entries, records and incidents are about, each once.
CREATE TABLE entities (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  type            text NOT NULL,
  -- In its one spelling; see src/entities/entity-key.ts.
  key             text NOT NULL CHECK (char_length(key) BETWEEN 1 AND 512),
  name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 512),
  -- A record says more of it than entries do; null where there is none.
  record_id       bigint,
  first_seen      timestamptz(3) NOT NULL,
  last_seen       timestamptz(3) NOT NULL,
  -- What it is only another name of.
  canonical_id    bigint REFERENCES entities (id) ON DELETE SET NULL,
  UNIQUE (organization_id, type, key)
);

CREATE INDEX entities_canonical_idx ON entities (canonical_id) WHERE canonical_id IS NOT NULL;
CREATE INDEX entities_oldest_idx ON entities (organization_id, type, last_seen) WHERE record_id IS NULL;
CALL restrict_to_organization('entities', 'SELECT, INSERT, UPDATE, DELETE');

-- What had to do with what, where no entry says it: which indicator was found where, what an incident is about.
CREATE TABLE entity_links (
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  from_id         bigint NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
  to_id           bigint NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
  kind            text NOT NULL CHECK (kind IN ('matched', 'triggered', 'evidence_of')),
  n               bigint NOT NULL,
  first_seen      timestamptz(3) NOT NULL,
  last_seen       timestamptz(3) NOT NULL,
  -- An entry that shows it, as text; null where no single one does.
  sample_id       text,
  PRIMARY KEY (from_id, to_id, kind)
);

CREATE INDEX entity_links_to_idx ON entity_links (to_id);
CREATE INDEX entity_links_organization_idx ON entity_links (organization_id);
CALL restrict_to_organization('entity_links', 'SELECT, INSERT, UPDATE, DELETE');
