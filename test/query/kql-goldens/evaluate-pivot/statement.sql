WITH toInt64(countIf(ifNull((level = {p0:String}), false))) AS c0, toInt64(countIf(ifNull((level = {p1:String}), false))) AS c1, toInt64(countIf(ifNull((level = {p2:String}), false))) AS c2, toInt64(countIf(ifNull((level = {p3:String}), false))) AS c3, toInt64(countIf(ifNull((level = {p4:String}), false))) AS c4
SELECT service, c0, c1, c2, c3, c4
FROM logs
WHERE organization_id = {p6:UInt32} AND ifNull(service IN {p5:Array(String)}, false)
GROUP BY service
ORDER BY service
LIMIT {p7:UInt64}
