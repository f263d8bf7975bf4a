WITH (level = {p0:String}) AS c0
SELECT toUnixTimestamp64Nano(ts), message, c0
FROM logs
WHERE organization_id = {p1:UInt32} AND (message != {p2:String})
LIMIT {p3:UInt64}
