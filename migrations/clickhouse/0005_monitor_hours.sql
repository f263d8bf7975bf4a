-- What an hour of a monitor in a region comes to. Computed again from the checks whenever some of the hour arrive; the newest
-- holds, so reads say FINAL.
CREATE TABLE IF NOT EXISTS monitor_hours
(
    organization_id UInt32 CODEC(ZSTD(1)),
    monitor_id UInt64 CODEC(ZSTD(1)),
    hour DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    region LowCardinality(String) CODEC(ZSTD(1)),
    up UInt32 CODEC(ZSTD(1)),
    degraded UInt32 CODEC(ZSTD(1)),
    down UInt32 CODEC(ZSTD(1)),
    unknown UInt32 CODEC(ZSTD(1)),
    missed UInt32 CODEC(ZSTD(1)),
    -- Of checks that got an answer: up and degraded.
    duration_sum_ms Float64 CODEC(ZSTD(1)),
    duration_min_ms Float32 CODEC(ZSTD(1)),
    duration_max_ms Float32 CODEC(ZSTD(1)),
    duration_p50_ms Float32 CODEC(ZSTD(1)),
    duration_p95_ms Float32 CODEC(ZSTD(1)),
    duration_p99_ms Float32 CODEC(ZSTD(1)),
    computed_at DateTime64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY (organization_id, monitor_id, hour, region)
TTL hour + INTERVAL 400 DAY
SETTINGS index_granularity = 2048;
