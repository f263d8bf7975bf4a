-- The rule of a pack that a rule was made of; null for one that people made. Each is made once at a time.
ALTER TABLE log_alerts ADD COLUMN catalog_id text CHECK (char_length(catalog_id) <= 64);
CREATE UNIQUE INDEX log_alerts_catalog_idx ON log_alerts (organization_id, catalog_id) WHERE catalog_id IS NOT NULL;
