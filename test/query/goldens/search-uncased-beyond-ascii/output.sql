SELECT message
FROM logs
WHERE organization_id = {p0:UInt32} AND (lower(message) LIKE {p1:String})
LIMIT {p2:UInt64}
