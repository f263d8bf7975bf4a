-- What statements over entries look for in the attributes, and what that costs; both fade, by half in a day.
CREATE TABLE log_attribute_usage (
  key           text PRIMARY KEY,
  asks          double precision NOT NULL,
  cost_ms       double precision NOT NULL,
  last_asked_at timestamptz NOT NULL
);

-- Attributes that the table of logs has columns of. `filling`: some of its parts may lack them. `ready`: none does, and statements read
-- them. `leaving`: no statement reads them any more; they go when none can be left that did.
CREATE TABLE log_attribute_columns (
  key     text PRIMARY KEY,
  is_low_cardinality boolean NOT NULL,
  state   text NOT NULL CHECK (state IN ('filling', 'ready', 'leaving')),
  since   timestamptz NOT NULL
);

INSERT INTO job_turns (name, next_attempt_at) VALUES ('log-store-upkeep', now());
