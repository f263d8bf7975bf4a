WITH ifNull(nullIf(JSONExtractArrayRaw(c7)[{p0:Int64}], 'null'), '') AS e0, arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [e0])[1] AS e1, multiIf(startsWith(c2, '['), arrayMap(x -> if(x = 'null', '', x), JSONExtractArrayRaw(c2)), startsWith(c2, '{'), arrayMap(x -> concat('[', toJSONString(x.1), ',', x.2, ']'), JSONExtractKeysAndValuesRaw(c2)), [c2]) AS e7, e1 AS c8
SELECT c5, c6, c7, c8
FROM (
WITH arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [c3])[1] AS e2, toInt64OrNull(e2) AS e3, arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [c4])[1] AS e4, multiIf(startsWith(c0, '['), arrayMap(x -> if(x = 'null', '', x), JSONExtractArrayRaw(c0)), startsWith(c0, '{'), arrayMap(x -> concat('{', toJSONString(x.1), ':', x.2, '}'), JSONExtractKeysAndValuesRaw(c0)), [c0]) AS e5, multiIf(startsWith(c1, '['), arrayMap(x -> if(x = 'null', '', x), JSONExtractArrayRaw(c1)), startsWith(c1, '{'), arrayMap(x -> concat('{', toJSONString(x.1), ':', x.2, '}'), JSONExtractKeysAndValuesRaw(c1)), [c1]) AS e6, multiIf(isNotNull(e3), e3, e2 = '', NULL, startsWith(c3, '"'), multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e2))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e2)), (substring(trim(BOTH ' \t\r\n\f\v' FROM e2), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM e2), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM e2), 3), 16, '0')))), NULL), c3 = 'true', toInt64(1), c3 = 'false', toInt64(0), toInt64(multiIf(not(isFinite(toFloat64OrNull(c3))), NULL, toFloat64OrNull(c3) >= 9223372036854775807., toInt64(toInt64(9223372036854775807)), toFloat64OrNull(c3) <= -9223372036854775808., toInt64(toInt64('-9223372036854775808')), accurateCastOrNull(trunc(toFloat64OrNull(c3)), 'Int64')))) AS c5, e4 AS c6
SELECT c5, c6, c2
FROM (
WITH {p1:String} AS c0, {p2:String} AS c1, {p3:String} AS c2
SELECT c0, c1, c2
FROM (SELECT 1)
)
ARRAY JOIN e5 AS c3, e6 AS c4
)
ARRAY JOIN e7 AS c7
ORDER BY c5 ASC NULLS FIRST, c8
LIMIT {p4:UInt64}
