WITH ((toInt64(((toInt32(toDate32(c1)) + 70004) % 7)) * toInt64(86400000000000)) / {p1:Int64}) AS e0, coalesce(c6, {p0:Int64}) AS c8, multiIf(not(isFinite(e0)), NULL, e0 >= 2147483647., toInt32(toInt64(2147483647)), e0 <= -2147483648., toInt32(toInt64(-2147483648)), accurateCastOrNull(trunc(e0), 'Int32')) AS c9
SELECT toUnixTimestamp64Nano(c1), c8, c9
FROM (
WITH c0 AS c1, c0 AS c2
SELECT c1, c2
FROM (SELECT (fromUnixTimestamp64Nano(toUnixTimestamp64Nano(fromUnixTimestamp64Nano({p2:Int64}, 'UTC')) + toInt64(number) * {p1:Int64}, 'UTC')) AS c0 FROM (SELECT number FROM numbers({p3:UInt64})))
) AS l
LEFT JOIN (
WITH c3 AS c5, c4 AS c6, c3 AS c7
SELECT c5, c6, c7
FROM (
WITH toUnixTimestamp64Nano(ts) AS e1, fromUnixTimestamp64Nano(e1 - positiveModulo(e1, toInt64(86400000000000)), 'UTC') AS c3, toInt64(count()) AS c4
SELECT c3, c4
FROM logs
WHERE organization_id = {p4:UInt32}
GROUP BY c3
)
) AS r ON c2 = c7
ORDER BY c1
LIMIT {p5:UInt64}
