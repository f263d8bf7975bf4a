-- Conditions that a converter wrote are longer than those that people write.
ALTER TABLE log_alerts DROP CONSTRAINT log_alerts_kql_check;
ALTER TABLE log_alerts ADD CONSTRAINT log_alerts_kql_check CHECK (char_length(kql) <= 16384);
ALTER TABLE log_counters DROP CONSTRAINT log_counters_kql_check;
ALTER TABLE log_counters ADD CONSTRAINT log_counters_kql_check CHECK (char_length(kql) <= 16384);
