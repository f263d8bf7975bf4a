SELECT id, message
FROM logs
WHERE organization_id = {p5:UInt32} AND ts >= fromUnixTimestamp64Nano({p3:Int64}, 'UTC') AND ts <= fromUnixTimestamp64Nano({p4:Int64}, 'UTC') AND ((level = {p0:String}) AND (service = {p1:String}) AND (lower(message) LIKE {p2:String}))
ORDER BY ts DESC, id DESC
LIMIT {p6:UInt64}
