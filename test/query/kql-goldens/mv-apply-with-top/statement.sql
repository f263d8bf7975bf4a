SELECT c0, c1, c5
FROM (
WITH arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [c4])[1] AS e0, toInt64OrNull(e0) AS e1, multiIf(startsWith(c1, '['), arrayMap(x -> if(x = 'null', '', x), JSONExtractArrayRaw(c1)), startsWith(c1, '{'), arrayMap(x -> concat('{', toJSONString(x.1), ':', x.2, '}'), JSONExtractKeysAndValuesRaw(c1)), [c1]) AS e2, multiIf(isNotNull(e1), e1, e0 = '', NULL, startsWith(c4, '"'), multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e0))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e0)), (substring(trim(BOTH ' \t\r\n\f\v' FROM e0), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM e0), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM e0), 3), 16, '0')))), NULL), c4 = 'true', toInt64(1), c4 = 'false', toInt64(0), toInt64(multiIf(not(isFinite(toFloat64OrNull(c4))), NULL, toFloat64OrNull(c4) >= 9223372036854775807., toInt64(toInt64(9223372036854775807)), toFloat64OrNull(c4) <= -9223372036854775808., toInt64(toInt64('-9223372036854775808')), accurateCastOrNull(trunc(toFloat64OrNull(c4)), 'Int64')))) AS c5
SELECT c0, c1, c5
FROM (
SELECT c0, c1, c3, c2
FROM (
WITH toInt64(row_number() OVER (ORDER BY c2 ROWS UNBOUNDED PRECEDING)) AS c3
SELECT c0, c1, c3, c2
FROM (
WITH row_number() OVER () AS c2
SELECT c0, c1, c2
FROM (
SELECT c0, c1
FROM (SELECT 1) ARRAY JOIN CAST([{p0:String}, {p1:String}, {p2:String}], 'Array(String)') AS c0, CAST([{p3:String}, {p4:String}, {p5:String}], 'Array(String)') AS c1
)
)
)
)
ARRAY JOIN e2 AS c4
ORDER BY c5 DESC NULLS LAST
LIMIT {p6:UInt64} BY c3
)
ORDER BY c0, c5 DESC NULLS LAST
LIMIT {p7:UInt64}
