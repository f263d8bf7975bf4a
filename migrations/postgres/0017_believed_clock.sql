-- The time by which log entries age: it goes on only as time is known to have passed, however the clocks are set.
CREATE TABLE believed_clock (
  singleton     boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  believed_at   timestamptz NOT NULL,
  -- When it was believed, by a clock that counts from the start of a machine, which is told by its boot.
  boot          text NOT NULL,
  boot_clock_ms bigint NOT NULL
);
