-- Rules that ask a whole query again and again, and how often.
ALTER TABLE log_alerts DROP CONSTRAINT log_alerts_kind_check;
ALTER TABLE log_alerts ADD CONSTRAINT log_alerts_kind_check CHECK (kind IN ('threshold', 'anomaly', 'scheduled'));
ALTER TABLE log_alerts ADD COLUMN every_sec integer CHECK (every_sec BETWEEN 60 AND 86400);
