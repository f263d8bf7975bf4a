-- What seals find beside counts: single entries that a rule with several steps looks at (hit), errors of a group (error), what
-- somebody may be known by (observable), what had to do with what (edge), and points of metrics (metric). Where several of
-- them fall into one bucket and must stay apart, value_hash tells them apart.
ALTER TABLE signals
    MODIFY COLUMN kind Enum8('seal' = 0, 'count' = 1, 'past' = 2, 'hit' = 3, 'error' = 4, 'observable' = 5, 'edge' = 6, 'metric' = 7),
    ADD COLUMN IF NOT EXISTS value_hash UInt64 AFTER bucket,
    MODIFY ORDER BY (organization_id, kind, key, group_hash, bucket, value_hash);
ALTER TABLE signals
    MODIFY TTL sealed_day + INTERVAL 400 DAY,
               sealed_day + INTERVAL 90 DAY DELETE WHERE kind IN ('hit', 'observable');
