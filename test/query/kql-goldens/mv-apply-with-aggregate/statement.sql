WITH ifNull(nullIf(JSONExtractRaw(c3, {p0:String}), 'null'), '') AS e0, arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [e0])[1] AS e1, toInt64OrNull(e1) AS e2, multiIf(isNotNull(e2), e2, e1 = '', NULL, startsWith(e0, '"'), multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e1))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e1)), (substring(trim(BOTH ' \t\r\n\f\v' FROM e1), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM e1), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM e1), 3), 16, '0')))), NULL), e0 = 'true', toInt64(1), e0 = 'false', toInt64(0), toInt64(multiIf(not(isFinite(toFloat64OrNull(e0))), NULL, toFloat64OrNull(e0) >= 9223372036854775807., toInt64(toInt64(9223372036854775807)), toFloat64OrNull(e0) <= -9223372036854775808., toInt64(toInt64('-9223372036854775808')), accurateCastOrNull(trunc(toFloat64OrNull(e0)), 'Int64')))) AS e3, ifNull(nullIf(JSONExtractRaw(c3, {p1:String}), 'null'), '') AS e4, arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [e4])[1] AS e5, ifNull(sum(e3), toInt64(0)) AS c4, concat('[', arrayStringConcat(arrayMap(x -> toJSONString(x), groupArray(1048576)(e5)), ','), ']') AS c5, anyOrNull(ts) AS c6, any(c0) AS c7
SELECT toUnixTimestamp64Nano(c6), c7, c4, c5
FROM (
WITH multiIf(startsWith(c0, '['), arrayMap(x -> if(x = 'null', '', x), JSONExtractArrayRaw(c0)), startsWith(c0, '{'), arrayMap(x -> concat('{', toJSONString(x.1), ':', x.2, '}'), JSONExtractKeysAndValuesRaw(c0)), [c0]) AS e6
SELECT ts, c0, c2, c3
FROM (
SELECT ts, c0, c2, c1
FROM (
WITH toInt64(row_number() OVER (ORDER BY c1 ROWS UNBOUNDED PRECEDING)) AS c2
SELECT ts, c0, c2, c1
FROM (
WITH row_number() OVER () AS c1
SELECT ts, c0, c1
FROM (
WITH multiIf(has(attr_json_keys, {p2:String}), attrs[{p2:String}], mapContains(attrs, {p2:String}), toJSONString(attrs[{p2:String}]), JSONHas(attrs[{p4:String}], {p3:String}), ifNull(nullIf(JSONExtractRaw(attrs[{p4:String}], {p3:String}), 'null'), ''), '') AS c0
SELECT ts, c0
FROM logs
WHERE organization_id = {p6:UInt32} AND (service = {p5:String})
)
)
)
)
ARRAY JOIN e6 AS c3
ORDER BY c1
)
GROUP BY c2
ORDER BY c6 ASC NULLS FIRST
LIMIT {p7:UInt64}
