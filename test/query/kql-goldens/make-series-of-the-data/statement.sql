WITH {p0:String} AS c5, arrayMap(z -> if(startsWith(z, '['), arrayMap(y -> if(arrayAll(x -> x = 'null' OR isNotNull(toFloat64OrNull(x)), y), arraySum(x -> toFloat64OrZero(x), y), NULL), [JSONExtractArrayRaw(z)])[1], NULL), [c3])[1] AS c6, arrayMap(z -> if(startsWith(z, '['), toInt64(JSONLength(z)), NULL), [c5])[1] AS c7
SELECT c3, c5, c6, c7
FROM (
WITH groupArray(assumeNotNull(c0)) AS e0, groupArray(c2) AS e1, CAST((e0, e1), 'Map(Int64, String)') AS e2, ifNull(toString(c1), '') AS c2, concat('[', arrayStringConcat(arrayMap(i -> if(mapContains(e2, i), if(e2[i] = '', 'null', e2[i]), {p1:String}), range(toInt64(0), {p2:Int64})), ','), ']') AS c3, toInt64(count()) AS c4
SELECT c3, c4
FROM (
WITH toUnixTimestamp64Nano(ts) AS e3, toUnixTimestamp64Nano(fromUnixTimestamp64Nano({p3:Int64}, 'UTC')) AS e4, if(((e3 - e4) <= e3) = (e4 >= 0), e3 - e4, NULL) AS e5, if(toInt64({p4:Int64}) > 0, intDivOrNull(toInt64(e5) - positiveModuloOrNull(toInt64(e5), toInt64({p4:Int64})), toInt64({p4:Int64})), NULL) AS c0, toInt64(count()) AS c1
SELECT c0, c1
FROM logs
WHERE organization_id = {p7:UInt32} AND (service = {p5:String}) AND ((ts >= fromUnixTimestamp64Nano({p3:Int64}, 'UTC')) AND (ts < fromUnixTimestamp64Nano({p6:Int64}, 'UTC')))
GROUP BY c0
)
)
WHERE (c4 > {p8:Int64})
LIMIT {p9:UInt64}
