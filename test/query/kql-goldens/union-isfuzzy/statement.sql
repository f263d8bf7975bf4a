WITH toInt64(count()) AS c2
SELECT c1, c2
FROM (
WITH message AS c0, service AS c1
SELECT c0, c1
FROM logs
WHERE organization_id = {p1:UInt32} AND (level = {p0:String})
)
GROUP BY c1
ORDER BY c1
LIMIT {p2:UInt64}
