SELECT id
FROM logs
WHERE organization_id = {p0:UInt32}
LIMIT {p1:UInt64}
