SELECT toUnixTimestamp64Nano(ts), service
FROM logs
WHERE organization_id = {p0:UInt32}
ORDER BY ts
LIMIT {p1:UInt64}
