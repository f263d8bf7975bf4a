WITH attrs[{p0:String}] AS c0
SELECT c0, id
FROM logs
WHERE organization_id = {p1:UInt32} AND (lower(c0) LIKE {p2:String})
ORDER BY c0 ASC NULLS FIRST
LIMIT {p3:UInt64}
