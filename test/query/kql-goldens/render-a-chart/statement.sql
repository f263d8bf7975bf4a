WITH toUInt32(intDiv(toUInt64(toUnixTimestamp64Nano(ts)) + {p1:UInt64}, {p0:UInt64})) AS c0, fromUnixTimestamp64Nano(toInt64(c0 * {p0:UInt64} - {p1:UInt64}), 'UTC') AS c1, toInt64(count()) AS c2
SELECT toUnixTimestamp64Nano(c1), c2
FROM logs
WHERE organization_id = {p3:UInt32} AND (service = {p2:String})
GROUP BY c0
ORDER BY c1 ASC NULLS FIRST
LIMIT {p4:UInt64}
