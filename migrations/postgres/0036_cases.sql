-- What an organisation looks into: its incidents, notes and evidence together.
CREATE TABLE cases (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id  integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  title            text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 255),
  severity         text NOT NULL,
  summary          text CHECK (char_length(summary) <= 8192),
  status           text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'investigating', 'contained', 'closed')),
  disposition      text CHECK (disposition IN ('true_positive', 'false_positive', 'benign', 'duplicate')),
  assignee_user_id integer REFERENCES users (id) ON DELETE SET NULL,
  -- When it was first contained since it was last opened, and when it was closed.
  contained_at     timestamptz(3),
  closed_at        timestamptz(3),
  merged_into      bigint REFERENCES cases (id) ON DELETE SET NULL,
  created_at       timestamptz(3) NOT NULL,
  updated_at       timestamptz(3) NOT NULL
);
CREATE INDEX cases_organization_idx ON cases (organization_id, id);
CALL restrict_to_organization('cases', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE case_incidents (
  case_id         bigint NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  incident_id     bigint NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  added_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (case_id, incident_id)
);
CREATE INDEX case_incidents_incident_idx ON case_incidents (incident_id);
CREATE INDEX case_incidents_organization_idx ON case_incidents (organization_id);
CALL restrict_to_organization('case_incidents', 'SELECT, INSERT, UPDATE, DELETE');

-- What was written and what was done, which nobody changes afterwards.
CREATE TABLE case_notes (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  case_id         bigint NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  kind            text NOT NULL CHECK (kind IN ('note', 'change')),
  body            text NOT NULL CHECK (char_length(body) BETWEEN 1 AND 8192),
  user_id         integer REFERENCES users (id) ON DELETE SET NULL,
  created_at      timestamptz(3) NOT NULL
);
CREATE INDEX case_notes_case_idx ON case_notes (case_id, id);
CREATE INDEX case_notes_organization_idx ON case_notes (organization_id);
CALL restrict_to_organization('case_notes', 'SELECT, INSERT, UPDATE');

-- Copies of what proves something: the originals may go when their retention ends.
CREATE TABLE case_evidence (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  case_id         bigint NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  kind            text NOT NULL CHECK (kind IN ('log', 'incident', 'detection', 'text')),
  ref             text NOT NULL CHECK (char_length(ref) BETWEEN 1 AND 2048),
  snapshot        jsonb,
  -- When it happened, as far as that is known.
  event_at        timestamptz(3),
  user_id         integer REFERENCES users (id) ON DELETE SET NULL,
  created_at      timestamptz(3) NOT NULL,
  UNIQUE (case_id, kind, ref)
);
CREATE INDEX case_evidence_organization_idx ON case_evidence (organization_id);
CALL restrict_to_organization('case_evidence', 'SELECT, INSERT, UPDATE, DELETE');

-- Addresses, domains, hashes and the like that the evidence names: cases that share some are alike.
CREATE TABLE case_observables (
  case_id         bigint NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  type            text NOT NULL,
  value           text NOT NULL CHECK (char_length(value) <= 512),
  PRIMARY KEY (case_id, type, value)
);
CREATE INDEX case_observables_value_idx ON case_observables (organization_id, type, value);
CALL restrict_to_organization('case_observables', 'SELECT, INSERT, DELETE');
