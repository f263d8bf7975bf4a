WITH toInt64(count()) AS c0
SELECT service, c0
FROM logs
WHERE organization_id = {p1:UInt32} AND ifNull(service IN {p0:Array(String)}, false)
GROUP BY service
LIMIT {p2:UInt64}
;
WITH toInt64(count()) AS c0
SELECT level, c0
FROM logs
WHERE organization_id = {p1:UInt32} AND ifNull(service IN {p0:Array(String)}, false)
GROUP BY level
LIMIT {p2:UInt64}
;
SELECT toUnixTimestamp64Nano(ts)
FROM logs
WHERE organization_id = {p1:UInt32} AND ifNull(service IN {p0:Array(String)}, false)
ORDER BY ts
LIMIT {p2:UInt64}
