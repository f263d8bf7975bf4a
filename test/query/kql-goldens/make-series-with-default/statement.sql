WITH {p0:String} AS c7
SELECT service, c4, c5, c7
FROM (
WITH groupArray(assumeNotNull(c0)) AS e0, groupArray(c3) AS e1, CAST((e0, e1), 'Map(Int64, String)') AS e2, groupArray(c2) AS e3, CAST((e0, e3), 'Map(Int64, String)') AS e4, ifNull(toString(c1), '') AS c3, concat('[', arrayStringConcat(arrayMap(i -> if(mapContains(e2, i), if(e2[i] = '', 'null', e2[i]), {p1:String}), range(toInt64(0), {p2:Int64})), ','), ']') AS c4, concat('[', arrayStringConcat(arrayMap(i -> if(mapContains(e4, i), if(e4[i] = '', 'null', e4[i]), {p1:String}), range(toInt64(0), {p2:Int64})), ','), ']') AS c5, toInt64(count()) AS c6
SELECT service, c4, c5, c6
FROM (
WITH toUnixTimestamp64Nano(ts) AS e5, toUnixTimestamp64Nano(fromUnixTimestamp64Nano({p3:Int64}, 'UTC')) AS e6, if(((e5 - e6) <= e5) = (e6 >= 0), e5 - e6, NULL) AS e7, multiIf(has(attr_json_keys, {p5:String}), attrs[{p5:String}], mapContains(attrs, {p5:String}), toJSONString(attrs[{p5:String}]), '') AS e8, if(toInt64({p4:Int64}) > 0, intDivOrNull(toInt64(e7) - positiveModuloOrNull(toInt64(e7), toInt64({p4:Int64})), toInt64({p4:Int64})), NULL) AS c0, toInt64(count()) AS c1, argMaxIf(e8, tuple(isNull(toFloat64OrNull(e8)), toFloat64OrZero(e8), e8), e8 != '') AS c2
SELECT service, c0, c1, c2
FROM logs
WHERE organization_id = {p8:UInt32} AND ifNull(service IN {p6:Array(String)}, false) AND ((ts >= fromUnixTimestamp64Nano({p3:Int64}, 'UTC')) AND (ts < fromUnixTimestamp64Nano({p7:Int64}, 'UTC')))
GROUP BY service, c0
)
GROUP BY service
)
WHERE (c6 > {p9:Int64})
ORDER BY service
LIMIT {p10:UInt64}
