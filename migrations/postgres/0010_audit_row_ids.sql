-- The id of an audit row is part of what its hash covers, so it is taken before the row is written.
GRANT USAGE ON SEQUENCE audit_log_id_seq TO obs_organization;
