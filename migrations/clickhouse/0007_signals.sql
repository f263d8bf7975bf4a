-- What seals found in the entries of a range of ids, one insert for each seal, so that all of it is there or nothing.
CREATE TABLE IF NOT EXISTS signals
(
    -- 0 for what is about the server and not about anybody's entries.
    organization_id UInt32 CODEC(ZSTD(1)),
    -- count: entries of a counter in a bucket of time. seal: how far a stream is sealed. past: that the entries from before a
    -- counter began are counted, up to a time.
    kind Enum8('seal' = 0, 'count' = 1, 'past' = 2) CODEC(ZSTD(1)),
    -- The counter, or the stream.
    key UInt64 CODEC(ZSTD(1)),
    -- Of the values that a counter counts apart; 0 where it counts none.
    group_hash UInt64 CODEC(ZSTD(1)),
    bucket DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    n SimpleAggregateFunction(sum, UInt64) CODEC(ZSTD(1)),
    last_id SimpleAggregateFunction(max, UInt64) CODEC(ZSTD(1)),
    -- By our clock: senders choose the time of an entry.
    sealed_day Date CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(sealed_day)
ORDER BY (organization_id, kind, key, group_hash, bucket)
TTL sealed_day + INTERVAL 400 DAY
SETTINGS
    index_granularity = 2048,
    non_replicated_deduplication_window = 10000,
    fsync_after_insert = 1,
    fsync_part_directory = 1;
