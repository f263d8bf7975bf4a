WITH extractGroups(message, {p0:String}) AS e0, e0[{p1:Int64}] AS c0, e0[{p2:Int64}] AS c1, e0[{p3:Int64}] AS c2
SELECT toUnixTimestamp64Nano(ts), c0, c1, c2
FROM logs
WHERE organization_id = {p5:UInt32} AND (service = {p4:String})
ORDER BY ts
LIMIT {p6:UInt64}
