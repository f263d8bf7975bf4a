SELECT id, message
FROM logs
WHERE organization_id = {p0:UInt32} AND ts >= fromUnixTimestamp64Nano({p1:Int64}, 'UTC') AND ts <= fromUnixTimestamp64Nano({p2:Int64}, 'UTC') AND ((level = {p3:String}) AND (service = {p4:String}) AND (lower(message) LIKE {p5:String}))
ORDER BY ts DESC, id DESC
LIMIT {p6:UInt64}
