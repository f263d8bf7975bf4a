-- One start of a server with one number: the ids of the entries that it makes grow. What is counted of the stream is
-- sealed up to an id, in the order of ids and not by any clock, so that an entry that is stored late is counted late.
CREATE TABLE ingest_streams (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The number by which ids tell who made them.
  instance        integer NOT NULL CHECK (instance BETWEEN 0 AND 1023),
  -- This start of the server, and its data directory.
  holder          uuid NOT NULL,
  place           text,
  -- No id of the stream is below; the next stream with the number begins above all of them.
  first_id        bigint NOT NULL,
  -- Entries up to here are counted.
  sealed_id       bigint NOT NULL,
  -- What a seal under way goes up to, and by which counters it counts; both null while there is none.
  intent_to       bigint,
  intent_revision bigint,
  -- Who may seal, and until when nobody else.
  sealer          uuid NOT NULL,
  lease_until     timestamptz(3) NOT NULL,
  -- Nothing will be added: everything that its server had made is stored and sealed.
  ended           boolean NOT NULL DEFAULT false,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  CHECK ((intent_to IS NULL) = (intent_revision IS NULL))
);

CREATE INDEX ingest_streams_open_idx ON ingest_streams (id) WHERE NOT ended;
CREATE INDEX ingest_streams_instance_idx ON ingest_streams (instance, first_id);
-- Whoever makes a counter notes where it begins.
GRANT SELECT (id, sealed_id, intent_to, ended) ON ingest_streams TO obs_organization;

-- Changes of what is counted, in their order: whoever makes one locks the row, so that a seal knows all up to its revision.
CREATE TABLE counter_revisions (
  single   boolean PRIMARY KEY DEFAULT true CHECK (single),
  revision bigint NOT NULL
);

INSERT INTO counter_revisions (revision) VALUES (0);
GRANT SELECT, UPDATE ON counter_revisions TO obs_organization;

-- What is counted of an organisation's entries as they are stored. A counter never changes: another filter is another counter.
CREATE TABLE log_counters (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- Words as in a search, a service and a level; null for any.
  query           text CHECK (char_length(query) <= 1024),
  service         text CHECK (char_length(service) <= 255),
  level           text CHECK (char_length(level) <= 64),
  bucket_sec      integer NOT NULL CHECK (bucket_sec > 0),
  -- Seals count it from this revision on, and from the other one no more.
  from_revision   bigint NOT NULL,
  until_revision  bigint,
  -- Where it begins, for each stream that was open then, as text: what came before is counted apart.
  starts          jsonb NOT NULL,
  -- Until its past is counted, answers are made from the entries; where that failed they stay so.
  past            text NOT NULL DEFAULT 'due' CHECK (past IN ('due', 'counted', 'failed')),
  created_at      timestamptz(3) NOT NULL
);

CREATE INDEX log_counters_live_idx ON log_counters (organization_id, id);
CREATE INDEX log_counters_due_idx ON log_counters (id) WHERE past = 'due' AND until_revision IS NULL;
CALL restrict_to_organization('log_counters', 'SELECT, INSERT, UPDATE');

INSERT INTO job_turns (name, next_attempt_at) VALUES ('log-counter-past', now());

-- Numbers that an organisation has made of its entries.
CREATE TABLE log_metrics (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name            text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  query           text CHECK (char_length(query) <= 1024),
  service         text CHECK (char_length(service) <= 255),
  level           text CHECK (char_length(level) <= 64),
  bucket_sec      integer NOT NULL DEFAULT 60,
  enabled         boolean NOT NULL DEFAULT true,
  -- What counts it; null while it is not enabled.
  counter_id      bigint REFERENCES log_counters (id),
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL
);

CREATE INDEX log_metrics_organization_idx ON log_metrics (organization_id, id);
CALL restrict_to_organization('log_metrics', 'SELECT, INSERT, UPDATE, DELETE');
