-- Every round of every monitor in every region, and what an hour of them comes to.
CREATE TABLE IF NOT EXISTS monitor_checks
(
    organization_id UInt32 CODEC(ZSTD(1)),
    monitor_id UInt64 CODEC(ZSTD(1)),
    started_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    region LowCardinality(String) CODEC(ZSTD(1)),
    -- When the round was due.
    slot DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    status Enum8('unknown' = 0, 'up' = 1, 'degraded' = 2, 'down' = 3, 'missed' = 4) CODEC(ZSTD(1)),
    duration_ms Float32 CODEC(ZSTD(1)),
    -- Resolving, connecting, TLS, first byte; 0 where there was none.
    dns_ms Float32 CODEC(ZSTD(1)),
    connect_ms Float32 CODEC(ZSTD(1)),
    tls_ms Float32 CODEC(ZSTD(1)),
    first_byte_ms Float32 CODEC(ZSTD(1)),
    status_code UInt16 CODEC(ZSTD(1)),
    error LowCardinality(String) CODEC(ZSTD(1)),
    late_ms Float32 CODEC(ZSTD(1)),
    in_maintenance Bool CODEC(ZSTD(1)),
    -- How many slots the row stands for: of `missed` ones there is one row for all that follow each other.
    slots UInt32 DEFAULT 1 CODEC(ZSTD(1)),
    -- When it came here: hours that got new rows are summed up again.
    stored_at DateTime DEFAULT now() CODEC(ZSTD(1)),
    INDEX stored_at_range stored_at TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(started_at)
ORDER BY (organization_id, monitor_id, started_at)
TTL toDateTime(started_at) + INTERVAL 400 DAY
SETTINGS
    index_granularity = 2048,
    min_bytes_for_wide_part = 134217728,
    non_replicated_deduplication_window = 10000,
    fsync_after_insert = 1,
    fsync_part_directory = 1;
