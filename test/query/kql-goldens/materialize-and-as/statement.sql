WITH toInt64(count()) AS c4
SELECT c2, c4
FROM (
WITH toInt64OrNull(attrs[{p0:String}]) AS e0, multiIf(has(attr_json_keys, {p0:String}), attrs[{p0:String}], mapContains(attrs, {p0:String}), toJSONString(attrs[{p0:String}]), '') AS e1, multiIf(isNotNull(e0), e0, attrs[{p0:String}] = '', NULL, startsWith(e1, '"'), multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}])), (substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), 3), 16, '0')))), NULL), e1 = 'true', toInt64(1), e1 = 'false', toInt64(0), toInt64(multiIf(not(isFinite(toFloat64OrNull(e1))), NULL, toFloat64OrNull(e1) >= 9223372036854775807., toInt64(toInt64(9223372036854775807)), toFloat64OrNull(e1) <= -9223372036854775808., toInt64(toInt64('-9223372036854775808')), accurateCastOrNull(trunc(toFloat64OrNull(e1)), 'Int64')))) AS c0, host AS c2, c0 AS c3
SELECT c2, c3
FROM logs
WHERE organization_id = {p3:UInt32} AND (service = {p1:String}) AND (c0 >= {p2:Int64})
UNION ALL
WITH toInt64OrNull(attrs[{p0:String}]) AS e2, multiIf(has(attr_json_keys, {p0:String}), attrs[{p0:String}], mapContains(attrs, {p0:String}), toJSONString(attrs[{p0:String}]), '') AS e3, multiIf(isNotNull(e2), e2, attrs[{p0:String}] = '', NULL, startsWith(e3, '"'), multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}])), (substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), 3), 16, '0')))), NULL), e3 = 'true', toInt64(1), e3 = 'false', toInt64(0), toInt64(multiIf(not(isFinite(toFloat64OrNull(e3))), NULL, toFloat64OrNull(e3) >= 9223372036854775807., toInt64(toInt64(9223372036854775807)), toFloat64OrNull(e3) <= -9223372036854775808., toInt64(toInt64('-9223372036854775808')), accurateCastOrNull(trunc(toFloat64OrNull(e3)), 'Int64')))) AS c1, host AS c2, c1 AS c3
SELECT c2, c3
FROM logs
WHERE organization_id = {p3:UInt32} AND (service = {p1:String}) AND ifNull(c1 = {p4:Int64}, false)
)
GROUP BY c2
ORDER BY c2
LIMIT {p5:UInt64}
