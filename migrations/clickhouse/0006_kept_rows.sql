-- Rows of the tables that organisations keep for their queries, and of files elsewhere that a query has read.
CREATE TABLE IF NOT EXISTS kept_rows
(
    organization_id UInt32 CODEC(ZSTD(1)),
    -- Of a set of rows in Postgres; a set never changes.
    rows_id UInt64 CODEC(ZSTD(1)),
    row UInt32 CODEC(Delta(4), ZSTD(1)),
    -- A text for each column, empty for nothing: digits of numbers, of times those of nanoseconds, 1 and 0, JSON.
    cells Array(String) CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (organization_id, rows_id, row)
SETTINGS
    index_granularity = 2048,
    fsync_after_insert = 1,
    fsync_part_directory = 1;
