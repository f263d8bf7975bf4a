-- Numbers the servers as they start, so that the log ids of those that run at the same time differ in their lowest
-- ten bits. A number comes again after 1024 starts, when its former owner is gone.
CREATE SEQUENCE server_instance AS integer MINVALUE 0 MAXVALUE 1023 START WITH 0 CYCLE;

-- What all instances sign with, so that a cursor of one is understood by the others. Such a signature authorises
-- nothing: it keeps a client from making up positions, and every query carries the organization besides.
CREATE TABLE signing_keys (
    purpose text PRIMARY KEY,
    key bytea NOT NULL CHECK (octet_length(key) = 32),
    created_at timestamptz NOT NULL DEFAULT now()
);
