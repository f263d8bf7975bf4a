-- After how long without an entry somebody is told, and below how many a rule that fired is over.
ALTER TABLE log_alerts ADD COLUMN no_data_sec integer CHECK (no_data_sec BETWEEN 60 AND 604800);
ALTER TABLE metric_alerts ADD COLUMN no_data_sec integer CHECK (no_data_sec BETWEEN 60 AND 604800);
ALTER TABLE log_alerts ADD COLUMN recover_threshold integer CHECK (recover_threshold BETWEEN 1 AND 1000000);
