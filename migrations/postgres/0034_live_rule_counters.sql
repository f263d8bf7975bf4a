-- What a live rule is found in: one counter, or one for each of its steps.
CREATE TABLE live_rule_counters (
  live_rule_id    bigint NOT NULL REFERENCES live_rules (id) ON DELETE CASCADE,
  organization_id integer NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- From 0 on, in the order of the rule's steps.
  place           integer NOT NULL CHECK (place >= 0),
  counter_id      bigint NOT NULL REFERENCES log_counters (id),
  PRIMARY KEY (live_rule_id, place)
);

CREATE INDEX live_rule_counters_counter_idx ON live_rule_counters (counter_id);
CALL restrict_to_organization('live_rule_counters', 'SELECT, INSERT, UPDATE, DELETE');

INSERT INTO live_rule_counters (live_rule_id, organization_id, place, counter_id)
SELECT id, organization_id, 0, counter_id FROM live_rules;

ALTER TABLE live_rules DROP COLUMN counter_id;
