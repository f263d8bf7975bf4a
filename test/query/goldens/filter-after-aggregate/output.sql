SELECT level, c0
FROM (
WITH toInt64(count()) AS c0
SELECT level, c0
FROM logs
WHERE organization_id = {p0:UInt32}
GROUP BY level
)
WHERE (c0 > {p1:Int64})
LIMIT {p2:UInt64}
