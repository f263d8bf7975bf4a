WITH fromUnixTimestamp64Nano({p0:Int64}, 'UTC') AS e0, concat('[', arrayStringConcat(arrayMap(x -> ifNull(concat('"', concat(replaceOne(rightPad(substring(toString(x), 1, 27), 27, '0'), ' ', 'T'), 'Z'), '"'), ''), arrayMap(i -> fromUnixTimestamp64Nano(assumeNotNull(toUnixTimestamp64Nano(e0)) + toInt64(i) * assumeNotNull({p1:Int64}), 'UTC'), range(toUInt64({p2:Int64})))), ','), ']') AS c7
SELECT service, c4, c5, c7
FROM (
WITH groupArray(assumeNotNull(c0)) AS e1, groupArray(c3) AS e2, CAST((e1, e2), 'Map(Int64, String)') AS e3, groupArray(c2) AS e4, CAST((e1, e4), 'Map(Int64, String)') AS e5, ifNull(toString(c1), '') AS c3, concat('[', arrayStringConcat(arrayMap(i -> if(mapContains(e3, i), if(e3[i] = '', 'null', e3[i]), {p3:String}), range(toInt64(0), {p2:Int64})), ','), ']') AS c4, concat('[', arrayStringConcat(arrayMap(i -> if(mapContains(e5, i), if(e5[i] = '', 'null', e5[i]), {p3:String}), range(toInt64(0), {p2:Int64})), ','), ']') AS c5, toInt64(count()) AS c6
SELECT service, c4, c5, c6
FROM (
WITH toUnixTimestamp64Nano(ts) AS e6, toUnixTimestamp64Nano(fromUnixTimestamp64Nano({p0:Int64}, 'UTC')) AS e7, if(((e6 - e7) <= e6) = (e7 >= 0), e6 - e7, NULL) AS e8, multiIf(has(attr_json_keys, {p4:String}), attrs[{p4:String}], mapContains(attrs, {p4:String}), toJSONString(attrs[{p4:String}]), '') AS e9, if(toInt64({p1:Int64}) > 0, intDivOrNull(toInt64(e8) - positiveModuloOrNull(toInt64(e8), greatest(toInt64({p1:Int64}), 0)), greatest(toInt64({p1:Int64}), 0)), NULL) AS c0, toInt64(count()) AS c1, argMaxIf(e9, tuple(isNull(toFloat64OrNull(e9)), ifNull(toFloat64OrNull(e9), 0), ifNull(toInt64OrNull(e9), 0), e9), e9 != '') AS c2
SELECT service, c0, c1, c2
FROM logs
WHERE organization_id = {p7:UInt32} AND ifNull(service IN {p5:Array(String)}, false) AND ((ts >= fromUnixTimestamp64Nano({p0:Int64}, 'UTC')) AND (ts < fromUnixTimestamp64Nano({p6:Int64}, 'UTC')))
GROUP BY service, c0
)
GROUP BY service
)
WHERE (c6 > {p8:Int64})
ORDER BY service
LIMIT {p9:UInt64}
