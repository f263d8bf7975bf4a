WITH toString(level) AS c0
SELECT level, toUnixTimestamp64Nano(ts), message
FROM logs
WHERE organization_id = {p1:UInt32} AND ifNull(level IN {p0:Array(String)}, false)
ORDER BY c0, ts DESC
LIMIT {p2:UInt64}
