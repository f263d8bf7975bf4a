SELECT level
FROM logs
WHERE organization_id = {p0:UInt32} AND (toString(level) < {p1:String})
LIMIT {p2:UInt64}
