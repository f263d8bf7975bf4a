WITH attrs[{p0:String}] AS c0
SELECT c0, id
FROM logs
WHERE organization_id = {p2:UInt32} AND (lower(c0) LIKE {p1:String})
ORDER BY c0
LIMIT {p3:UInt64}
