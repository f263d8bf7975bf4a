-- The saved search that a rule was made of; its text is the rule's own from then on.
ALTER TABLE log_alerts ADD COLUMN saved_search_id bigint REFERENCES saved_searches (id) ON DELETE SET NULL;
CREATE INDEX log_alerts_saved_search_idx ON log_alerts (saved_search_id) WHERE saved_search_id IS NOT NULL;
