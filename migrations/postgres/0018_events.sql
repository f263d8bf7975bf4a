-- What happened, as domains tell each other: written in the transaction of the change itself, and never changed. The
-- events of one organisation have ids in the order of their commits; see src/changes/events/event-store.ts.
CREATE TABLE events (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  kind            text NOT NULL,
  -- What it is about, such as `incident:12`: of one subject subscribers are told in order.
  subject         text NOT NULL,
  payload         jsonb NOT NULL CHECK (octet_length(payload::text) <= 65536),
  happened_at     timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX events_happened_at_idx ON events (happened_at);

-- Whom an event is still to be told. Of each subscriber and subject the first one alone is due; it makes the next one due
-- when it is done. One that failed too often is set aside.
CREATE TABLE event_deliveries (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id        bigint NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  subscriber      text NOT NULL,
  organization_id integer NOT NULL,
  subject         text NOT NULL,
  -- While it is held, until when it is; null behind another one, and when set aside.
  due_at          timestamptz,
  claim_id        uuid,
  attempts        integer NOT NULL DEFAULT 0,
  set_aside_at    timestamptz,
  -- Why the last attempt failed.
  last_error      text,
  UNIQUE (event_id, subscriber),
  CHECK (set_aside_at IS NULL OR due_at IS NULL)
);

CREATE INDEX event_deliveries_order_idx ON event_deliveries (organization_id, subscriber, subject, event_id)
  WHERE set_aside_at IS NULL;
CREATE INDEX event_deliveries_due_idx ON event_deliveries (organization_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX event_deliveries_oldest_idx ON event_deliveries (event_id) WHERE due_at IS NOT NULL;
CREATE INDEX event_deliveries_set_aside_idx ON event_deliveries (set_aside_at) WHERE set_aside_at IS NOT NULL;

CALL restrict_to_organization('events', 'SELECT, INSERT');
CALL restrict_to_organization('event_deliveries', 'SELECT, INSERT, UPDATE, DELETE');
