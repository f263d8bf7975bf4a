SELECT level
FROM logs
WHERE organization_id = {p1:UInt32} AND (toString(level) < {p0:String})
LIMIT {p2:UInt64}
