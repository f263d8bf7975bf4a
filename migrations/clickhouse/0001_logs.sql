-- Every choice below was measured: docs/storage.md has the figures, bench/storage.ts makes them again.
CREATE TABLE IF NOT EXISTS logs
(
    organization_id UInt32 CODEC(ZSTD(1)),
    ts DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    -- Time-ordered: 42 bits of milliseconds since 2020-01-01, 12 bits of sequence, 10 bits of instance.
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
    -- A string value as it is, any other value as its JSON text; attr_json_keys names the keys of the latter.
    attrs Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    attr_json_keys Array(LowCardinality(String)) CODEC(ZSTD(1)),
    -- Serves case-insensitive substrings of 6 or more characters: lower(message) LIKE '%...%'.
    INDEX message_ngrams lower(message) TYPE ngrambf_v1(6, 65536, 1, 0) GRANULARITY 2,
    INDEX trace_id_bloom trace_id TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX event_id_bloom event_id TYPE bloom_filter(0.01) GRANULARITY 4,
    -- Serves attrs['key'] = 'value'.
    INDEX attr_values_bloom mapValues(attrs) TYPE bloom_filter(0.025) GRANULARITY 4,
    INDEX id_range id TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
-- By our clock, not by the sender's: whoever chooses ts must not be able to make partitions.
PARTITION BY toDate(received_at)
ORDER BY (organization_id, ts, id)
SETTINGS
    -- A newest-100 search unpacks one granule of every wide column per hit.
    index_granularity = 2048,
    -- An insert's columns share one file: 22 files to sync instead of 74.
    min_bytes_for_wide_part = 134217728,
    -- Fewer, wider merges and an end to them: less of the work of writing, for about ten more parts alive.
    merge_selector_base = 10,
    max_bytes_to_merge_at_max_space_in_pool = 4294967296,
    -- Without a window insert_deduplication_token does nothing.
    non_replicated_deduplication_window = 10000,
    fsync_after_insert = 1,
    fsync_part_directory = 1;
