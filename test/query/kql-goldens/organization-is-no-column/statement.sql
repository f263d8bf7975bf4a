WITH arrayMap(z -> if(startsWith(z, '['), arrayMap(y -> concat('[', arrayStringConcat(arrayMap(i -> y[i], arraySort((i, x) -> tuple(x = 'null', multiIf(startsWith(x, '"'), 1, x IN ('true', 'false') OR startsWith(x, '[') OR startsWith(x, '{'), 2, 0), toFloat64OrZero(x), toInt64OrZero(x), if(startsWith(x, '"'), JSONExtractString(x), x)), arrayEnumerate(y), y)), ','), ']'), [JSONExtractArrayRaw(z)])[1], ''), [c2])[1] AS c4
SELECT c0, c1, c4, c3
FROM (
WITH if(isFinite(toFloat64OrNull(attrs[{p0:String}])), toFloat64OrNull(attrs[{p0:String}]), NULL) AS e0, multiIf(isNotNull(e0), e0, attrs[{p0:String}] = '', NULL, if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]))) OR match(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}])), NULL)) AS e1, toInt64(count()) AS c0, toInt64(countIf(not((attrs[{p0:String}] = '' AND multiIf(has(attr_json_keys, {p0:String}), attrs[{p0:String}], mapContains(attrs, {p0:String}), toJSONString(attrs[{p0:String}]), '') = '')))) AS c1, concat('[', arrayStringConcat(arrayMap(x -> toJSONString(x), arraySlice(arrayDistinct(arrayConcat(groupArray(10000)(service), groupUniqArray(1048576)(service))), 1, 1048576)), ','), ']') AS c2, toInt64(countIf((NOT (attrs[{p0:String}] = '')))) AS c3
SELECT c0, c1, c2, c3
FROM logs
WHERE organization_id = {p4:UInt32} AND (ifNull(e1 = {p1:Int64}, false) OR ((service = {p2:String}) OR ({p3:Int64} = {p3:Int64})))
)
LIMIT {p5:UInt64}
