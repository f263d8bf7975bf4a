-- Errors that are one fault, found as entries are stored. Counts by the hour are in the log store, see `signals`.
CREATE TABLE error_groups (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id   integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  fingerprint       text NOT NULL CHECK (char_length(fingerprint) = 32),
  grouped_by        text NOT NULL CHECK (grouped_by IN ('attribute', 'frames', 'message')),
  service           text NOT NULL,
  type              text NOT NULL,
  title             text NOT NULL,
  culprit           text NOT NULL,
  runtime           text,
  -- Of the first of them, what near groups are found by.
  message           text NOT NULL,
  frame_keys        text[] NOT NULL,
  status            text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'resolved', 'ignored')),
  -- Of its own entries: those of groups that are merged into it are counted with these.
  count             bigint NOT NULL,
  first_seen        timestamptz(3) NOT NULL,
  last_seen         timestamptz(3) NOT NULL,
  first_release     text,
  last_release      text,
  sample_ids        bigint[] NOT NULL,
  -- When an entry of it or of one that is merged into it was last.
  active_at         timestamptz(3) NOT NULL,
  resolved_at       timestamptz(3),
  regressed_at      timestamptz(3),
  regressed_release text,
  merged_into       bigint REFERENCES error_groups (id) ON DELETE SET NULL,
  created_at        timestamptz(3) NOT NULL DEFAULT now(),
  updated_at        timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (organization_id, fingerprint),
  CHECK (merged_into <> id)
);

CREATE INDEX error_groups_active_idx ON error_groups (organization_id, active_at DESC, id DESC)
  WHERE merged_into IS NULL;
CREATE INDEX error_groups_first_seen_idx ON error_groups (organization_id, first_seen);
CREATE INDEX error_groups_regressed_idx ON error_groups (organization_id, regressed_at) WHERE regressed_at IS NOT NULL;
CREATE INDEX error_groups_merged_idx ON error_groups (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX error_groups_last_seen_idx ON error_groups (last_seen);
CALL restrict_to_organization('error_groups', 'SELECT, UPDATE');

-- The releases and environments that the entries of a group name.
CREATE TABLE error_group_places (
  group_id        bigint NOT NULL REFERENCES error_groups (id) ON DELETE CASCADE,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  kind            text NOT NULL CHECK (kind IN ('release', 'environment')),
  value           text NOT NULL,
  count           bigint NOT NULL,
  first_seen      timestamptz(3) NOT NULL,
  last_seen       timestamptz(3) NOT NULL,
  PRIMARY KEY (group_id, kind, value)
);

CREATE INDEX error_group_places_organization_idx ON error_group_places (organization_id);
CALL restrict_to_organization('error_group_places', 'SELECT');

-- By our clock: how many groups an hour has made of an organisation, and how many errors came for which it may make none.
CREATE TABLE error_group_hours (
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  hour            timestamptz(3) NOT NULL,
  made            integer NOT NULL DEFAULT 0,
  other           bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, hour)
);

CALL restrict_to_organization('error_group_hours', 'SELECT');
