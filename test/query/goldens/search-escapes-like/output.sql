SELECT message
FROM logs
WHERE organization_id = {p1:UInt32} AND (lower(message) LIKE {p0:String})
LIMIT {p2:UInt64}
