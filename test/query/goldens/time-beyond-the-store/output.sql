SELECT id
FROM logs
WHERE organization_id = {p2:UInt32} AND ts >= fromUnixTimestamp64Nano({p0:Int64}, 'UTC') AND ts <= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')
LIMIT {p3:UInt64}
