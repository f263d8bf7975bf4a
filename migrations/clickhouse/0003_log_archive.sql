-- The entries that an attempt to archive moves: exactly these are written to the file, compared with it and deleted,
-- whatever arrives meanwhile. A partition is dropped when its attempt is over.
CREATE TABLE IF NOT EXISTS log_archive_moves
(
    attempt UInt64,
    organization_id UInt32,
    id UInt64
)
ENGINE = MergeTree
PARTITION BY attempt
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
