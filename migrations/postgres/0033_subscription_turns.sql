-- How often a client has subscribed to status pages of late, over all instances: it has a few turns, and each comes again.
CREATE TABLE subscription_turns (
  -- Stands for the client: nobody's address is kept.
  client_hash text NOT NULL,
  nth         smallint NOT NULL,
  free_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (client_hash, nth)
);

CREATE INDEX subscription_turns_free_idx ON subscription_turns (free_at);
