WITH maxOrNull(id) AS c0
SELECT c0
FROM logs
WHERE organization_id = {p0:UInt32} AND (id > {p1:Int64})
LIMIT {p2:UInt64}
