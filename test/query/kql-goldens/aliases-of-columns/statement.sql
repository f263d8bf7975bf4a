SELECT toUnixTimestamp64Nano(ts), level, message, trace_id
FROM logs
WHERE organization_id = {p2:UInt32} AND ((level = {p0:String}) OR (ts < fromUnixTimestamp64Nano({p1:Int64}, 'UTC')))
ORDER BY ts
LIMIT {p3:UInt64}
