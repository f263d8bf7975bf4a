WITH extractGroups(message, {p0:String}) AS e0, e0[{p1:Int64}] AS c0
SELECT toUnixTimestamp64Nano(ts), c0
FROM logs
WHERE organization_id = {p4:UInt32} AND (ifNull(service IN {p2:Array(String)}, false) AND (level = {p3:String}))
ORDER BY ts
LIMIT {p5:UInt64}
