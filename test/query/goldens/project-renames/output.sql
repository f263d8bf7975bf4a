WITH (level = {p0:String}) AS c0
SELECT toUnixTimestamp64Nano(ts), message, CAST(c0, 'Nullable(Bool)')
FROM logs
WHERE organization_id = {p2:UInt32} AND (message != {p1:String})
LIMIT {p3:UInt64}
