WITH attrs[{p0:String}] AS c0
SELECT c0, toUnixTimestamp64Nano(ts)
FROM logs
WHERE organization_id = {p2:UInt32} AND (c0 = {p1:String})
LIMIT {p3:UInt64}
