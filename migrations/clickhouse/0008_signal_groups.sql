-- What a counter counts apart is known by a name, and where in its bucket the entries stand that it counted: the first
-- and the last of them, in milliseconds since 1970; 0 where nobody asks for it.
ALTER TABLE signals
    ADD COLUMN IF NOT EXISTS label SimpleAggregateFunction(any, String) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS first_ms SimpleAggregateFunction(min, Int64) CODEC(Delta(8), ZSTD(1)),
    ADD COLUMN IF NOT EXISTS last_ms SimpleAggregateFunction(max, Int64) CODEC(Delta(8), ZSTD(1));
