WITH toInt64(count()) AS c0
SELECT c0
FROM (
SELECT 1
FROM logs
WHERE organization_id = {p1:UInt32} AND (lower(message) LIKE {p0:String})
LIMIT {p2:UInt64}
)
LIMIT {p3:UInt64}
