-- Rules of an organisation about the values of metrics.
CREATE TABLE metric_alerts (
  id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id      integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name                 text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  metric_name          text NOT NULL CHECK (char_length(metric_name) BETWEEN 1 AND 255),
  service              text CHECK (char_length(service) <= 255),
  aggregation          text NOT NULL CHECK (aggregation IN ('avg', 'sum', 'min', 'max', 'last')),
  comparator           text NOT NULL CHECK (comparator IN ('gt', 'lt', 'gte', 'lte')),
  threshold            double precision NOT NULL,
  window_sec           integer NOT NULL CHECK (window_sec BETWEEN 60 AND 86400),
  severity             text NOT NULL,
  enabled              boolean NOT NULL,
  escalation_policy_id bigint REFERENCES escalation_policies (id),
  created_at           timestamptz(3) NOT NULL,
  updated_at           timestamptz(3) NOT NULL
);

CREATE INDEX metric_alerts_organization_idx ON metric_alerts (organization_id, id);
CALL restrict_to_organization('metric_alerts', 'SELECT, INSERT, UPDATE, DELETE');

ALTER TABLE live_rules DROP CONSTRAINT live_rules_kind_check;
ALTER TABLE live_rules ADD CONSTRAINT live_rules_kind_check CHECK (kind IN ('log', 'metric'));
