CREATE TABLE IF NOT EXISTS logs
(
    organization_id UInt32 CODEC(ZSTD(1)),
    ts DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id UInt64 CODEC(Delta(8), ZSTD(1)),
    received_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    level Enum8('' = 0, 'trace' = 1, 'debug' = 2, 'info' = 3, 'warn' = 4, 'error' = 5, 'fatal' = 6) CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    host LowCardinality(String) CODEC(ZSTD(1)),
    message String CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    event_id String CODEC(ZSTD(1)),
    attrs Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    attr_json_keys Array(LowCardinality(String)) CODEC(ZSTD(1)),
    INDEX message_ngrams lower(message) TYPE ngrambf_v1(6, 65536, 1, 0) GRANULARITY 1,
    INDEX trace_id_bloom trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX event_id_bloom event_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX id_range id TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toDate(received_at)
ORDER BY (organization_id, ts, id)
SETTINGS
    non_replicated_deduplication_window = 10000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_bytes_for_wide_part = 134217728,
    merge_selector_base = 10;
