-- Requests that store logs are not part of a transaction: whether one that never answered stored its entries is known to
-- the write-ahead log it would have appended them to, and to nothing else.
ALTER TABLE idempotency_keys
  -- The write-ahead log of the execution; null where an answer and its change are one transaction.
  ADD COLUMN log text,
  -- What the entries are stored under there: the first attempt, so that a key used anew a day later has another name.
  ADD COLUMN stored_as uuid NOT NULL DEFAULT gen_random_uuid(),
  -- That log has said that it holds the entries.
  ADD COLUMN is_stored boolean NOT NULL DEFAULT false,
  -- Since when another instance waits for what that log says.
  ADD COLUMN asked_at timestamptz(3);

-- Empty but for the moments after a crash, so that ordinary requests pay nothing for it.
CREATE INDEX idempotency_keys_asked_idx ON idempotency_keys (log) WHERE asked_at IS NOT NULL;
