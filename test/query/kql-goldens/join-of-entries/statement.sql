WITH toUnixTimestamp64Nano(c8) AS e0, toUnixTimestamp64Nano(c3) AS e1, ifNull(c6, '') AS c10, if(((e0 - e1) <= e0) = (e1 >= 0), e0 - e1, NULL) AS c11
SELECT c1, c2, toUnixTimestamp64Nano(c3), c10, c7, toUnixTimestamp64Nano(c8), c11
FROM (
WITH if(isFinite(toFloat64OrNull(attrs[{p2:String}])), toFloat64OrNull(attrs[{p2:String}]), NULL) AS e2, multiIf(has(attr_json_keys, {p2:String}), attrs[{p2:String}], mapContains(attrs, {p2:String}), toJSONString(attrs[{p2:String}]), '') AS e3, attrs[{p0:String}] AS c0, trace_id AS c1, c0 AS c2, ts AS c3, trace_id AS c4
SELECT c1, c2, c3, c4
FROM logs
WHERE organization_id = {p4:UInt32} AND ((service = {p1:String}) AND (multiIf(isNotNull(e2), e2, attrs[{p2:String}] = '', NULL, startsWith(e3, '"'), if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p2:String}]))) OR match(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p2:String}]), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p2:String}])), NULL), e3 = 'true', toFloat64(1), e3 = 'false', toFloat64(0), toFloat64OrNull(e3)) < {p3:Int64}))
) AS l
LEFT JOIN (
WITH ifNull(nullIf(JSONExtractRaw(attrs[{p7:String}], {p6:String}), 'null'), '') AS e4, if(startsWith(e4, '"'), JSONExtractString(e4), e4) AS e5, multiIf(mapContains(attrs, {p5:String}), attrs[{p5:String}], JSONHas(attrs[{p7:String}], {p6:String}), e5, '') AS e6, toInt64OrNull(e6) AS e7, multiIf(has(attr_json_keys, {p5:String}), attrs[{p5:String}], mapContains(attrs, {p5:String}), toJSONString(attrs[{p5:String}]), JSONHas(attrs[{p7:String}], {p6:String}), ifNull(nullIf(JSONExtractRaw(attrs[{p7:String}], {p6:String}), 'null'), ''), '') AS e8, multiIf(isNotNull(e7), e7, e6 = '', NULL, startsWith(e8, '"'), multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e6))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e6)), (substring(trim(BOTH ' \t\r\n\f\v' FROM e6), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM e6), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM e6), 3), 16, '0')))), NULL), e8 = 'true', toInt64(1), e8 = 'false', toInt64(0), toInt64(multiIf(not(isFinite(toFloat64OrNull(e8))), NULL, toFloat64OrNull(e8) >= 9223372036854775807., toInt64(toInt64(9223372036854775807)), toFloat64OrNull(e8) <= -9223372036854775808., toInt64(toInt64('-9223372036854775808')), accurateCastOrNull(trunc(toFloat64OrNull(e8)), 'Int64')))) AS c5, trace_id AS c6, c5 AS c7, ts AS c8, trace_id AS c9
SELECT c6, c7, c8, c9
FROM logs
WHERE organization_id = {p4:UInt32} AND (service = {p8:String})
) AS r ON c4 = c9
ORDER BY c3
LIMIT {p9:UInt64}
