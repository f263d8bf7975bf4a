WITH toUnixTimestamp64Nano(ts) AS e0, e0 - positiveModulo(e0 - {p0:Int64}, {p1:Int64}) AS e1, toInt32(toDate32(ts)) AS e2, toInt64(e2 - ((e2 + 70004) % 7)) AS e3, toUnixTimestamp64Nano(fromUnixTimestamp64Nano({p2:Int64}, 'UTC')) AS e4, if({p3:Int64} > 0, e0 - positiveModuloOrNull(positiveModuloOrNull(e0, greatest({p3:Int64}, 0)) - positiveModuloOrNull(e4, greatest({p3:Int64}, 0)), greatest({p3:Int64}, 0)), NULL) AS e5, if(e1 >= toInt64(-2208988800000000000), fromUnixTimestamp64Nano(e1, 'UTC'), NULL) AS c0, if(e3 BETWEEN -25567 AND 106751, fromUnixTimestamp64Nano(toInt64(e3) * toInt64(86400000000000) + toInt64(0), 'UTC'), NULL) AS c1, fromUnixTimestamp64Nano(e0 - positiveModulo(e0, toInt64(86400000000000)), 'UTC') AS c2, if(e5 >= toInt64(-2208988800000000000), fromUnixTimestamp64Nano(e5, 'UTC'), NULL) AS c3, toUInt32(intDiv(toUInt64(toUnixTimestamp64Nano(ts)) + {p5:UInt64}, {p4:UInt64})) AS c4, fromUnixTimestamp64Nano(toInt64(c4 * {p4:UInt64} - {p5:UInt64}), 'UTC') AS c5, toInt64(count()) AS c6
SELECT toUnixTimestamp64Nano(c0), toUnixTimestamp64Nano(c1), toUnixTimestamp64Nano(c2), toUnixTimestamp64Nano(c3), toUnixTimestamp64Nano(c5), c6
FROM logs
WHERE organization_id = {p7:UInt32} AND (service = {p6:String})
GROUP BY c0, c1, c2, c3, c4
ORDER BY c2, c3 ASC NULLS FIRST, c5 ASC NULLS FIRST
LIMIT {p8:UInt64}
