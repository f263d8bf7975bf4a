SELECT id
FROM logs
WHERE organization_id = {p0:UInt32} AND (level = {p1:String}) AND ((ts <= fromUnixTimestamp64Nano({p2:Int64}, 'UTC')) AND ((ts < fromUnixTimestamp64Nano({p3:Int64}, 'UTC')) OR (id < {p4:Int64})) AND (id <= {p5:Int64}))
ORDER BY ts DESC, id DESC
LIMIT {p6:UInt64}
