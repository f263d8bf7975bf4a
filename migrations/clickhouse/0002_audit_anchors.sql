-- Heads of the audit chains in Postgres, written down where whoever rewrites a chain there does not reach. Rows are
-- added and read, never changed; one that is there twice says the same twice. Chains of any age are checked against
-- them, so nothing expires.
CREATE TABLE IF NOT EXISTS audit_anchors
(
    organization_id UInt32,
    seq UInt64,
    -- SHA-256 in lower case hexadecimal.
    hash FixedString(64),
    anchored_at DateTime64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY (organization_id, seq)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
