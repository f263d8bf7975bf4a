WITH fromUnixTimestamp64Nano({p0:Int64}, 'UTC') AS e0, concat('[', arrayStringConcat(arrayMap(x -> ifNull(concat('"', concat(replaceOne(rightPad(substring(toString(x), 1, 27), 27, '0'), ' ', 'T'), 'Z'), '"'), ''), arrayMap(i -> fromUnixTimestamp64Nano(assumeNotNull(toUnixTimestamp64Nano(e0)) + toInt64(i) * assumeNotNull({p1:Int64}), 'UTC'), range(toUInt64({p2:Int64})))), ','), ']') AS c5, arrayMap(z -> if(startsWith(z, '['), arrayMap(y -> if(notEmpty(y) AND arrayAll(x -> x = 'null' OR isNotNull(toFloat64OrNull(x)), y), arraySum(x -> toFloat64OrZero(x), y), NULL), [JSONExtractArrayRaw(z)])[1], NULL), [c3])[1] AS c6, arrayMap(z -> if(startsWith(z, '['), toInt64(JSONLength(z)), NULL), [c5])[1] AS c7
SELECT c3, c5, c6, c7
FROM (
WITH groupArray(assumeNotNull(c0)) AS e1, groupArray(c2) AS e2, CAST((e1, e2), 'Map(Int64, String)') AS e3, ifNull(toString(c1), '') AS c2, concat('[', arrayStringConcat(arrayMap(i -> if(mapContains(e3, i), if(e3[i] = '', 'null', e3[i]), {p3:String}), range(toInt64(0), {p2:Int64})), ','), ']') AS c3, toInt64(count()) AS c4
SELECT c3, c4
FROM (
WITH toUnixTimestamp64Nano(ts) AS e4, toUnixTimestamp64Nano(fromUnixTimestamp64Nano({p0:Int64}, 'UTC')) AS e5, if(((e4 - e5) <= e4) = (e5 >= 0), e4 - e5, NULL) AS e6, if(toInt64({p1:Int64}) > 0, intDivOrNull(toInt64(e6) - positiveModuloOrNull(toInt64(e6), greatest(toInt64({p1:Int64}), 0)), greatest(toInt64({p1:Int64}), 0)), NULL) AS c0, toInt64(count()) AS c1
SELECT c0, c1
FROM logs
WHERE organization_id = {p6:UInt32} AND (service = {p4:String}) AND ((ts >= fromUnixTimestamp64Nano({p0:Int64}, 'UTC')) AND (ts < fromUnixTimestamp64Nano({p5:Int64}, 'UTC')))
GROUP BY c0
)
)
WHERE (c4 > {p7:Int64})
LIMIT {p8:UInt64}
