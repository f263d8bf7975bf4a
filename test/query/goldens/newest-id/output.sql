WITH maxOrNull(id) AS c0
SELECT c0
FROM logs
WHERE organization_id = {p1:UInt32} AND (id > {p0:Int64})
LIMIT {p2:UInt64}
