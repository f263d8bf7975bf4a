-- The numbers of the servers that run at the same time, which make their log ids differ in the lowest ten bits. A number
-- is held by a lease, by this database's clock; it is given to another when the lease is over and the ids that were made
-- with it are past.
CREATE TABLE server_instances (
  number      smallint PRIMARY KEY CHECK (number BETWEEN 0 AND 1023),
  -- The start that holds it; null when it was given back.
  holder      uuid,
  -- The data directory of that start, by what is not copied along with it.
  place       text,
  lease_until timestamptz NOT NULL,
  -- By the clock of the server: no id of this number is later, unless the lease has lasted beyond it.
  ids_through timestamptz NOT NULL
);

-- Servers of the version before this one hold their numbers without a lease.
INSERT INTO server_instances (number, lease_until, ids_through)
SELECT (last_value - back + 1024) % 1024, now() + interval '1 day', now()
FROM server_instance, generate_series(0, 63) AS back
WHERE is_called;

DROP SEQUENCE server_instance;
