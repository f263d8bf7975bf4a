SELECT id
FROM logs
WHERE organization_id = {p4:UInt32} AND (level = {p0:String}) AND ((ts <= fromUnixTimestamp64Nano({p1:Int64}, 'UTC')) AND ((ts < fromUnixTimestamp64Nano({p1:Int64}, 'UTC')) OR (id < {p2:Int64})) AND (id <= {p3:Int64}))
ORDER BY ts DESC, id DESC
LIMIT {p5:UInt64}
