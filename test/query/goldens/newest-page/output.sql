SELECT id, toUnixTimestamp64Nano(ts), message
FROM logs
WHERE organization_id = {p0:UInt32}
ORDER BY ts DESC, id DESC
LIMIT {p1:UInt64}
