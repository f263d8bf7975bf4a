WITH ifNull(nullIf(JSONExtractRaw(c0, {p0:String}), 'null'), '') AS e0, arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [e0])[1] AS e1, ifNull(nullIf(JSONExtractRaw(c1, {p1:String}), 'null'), '') AS e2, arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [e2])[1] AS e3, ifNull(nullIf(JSONExtractRaw(c1, {p2:String}), 'null'), '') AS e4, arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [e4])[1] AS e5, toInt64OrNull(e5) AS e6, ifNull(nullIf(JSONExtractRaw(c0, {p6:String}), 'null'), '') AS e7, multiIf(startsWith(e7, '['), arrayMap(x -> if(x = 'null', '', x), JSONExtractArrayRaw(e7)), startsWith(e7, '{'), arrayMap(x -> concat('{', toJSONString(x.1), ':', x.2, '}'), JSONExtractKeysAndValuesRaw(e7)), [e7]) AS e8, e1 AS c3, e3 AS c4, multiIf(isNotNull(e6), e6, e5 = '', NULL, startsWith(e4, '"'), multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e5))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e5)), (substring(trim(BOTH ' \t\r\n\f\v' FROM e5), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM e5), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM e5), 3), 16, '0')))), NULL), e4 = 'true', toInt64(1), e4 = 'false', toInt64(0), toInt64(multiIf(not(isFinite(toFloat64OrNull(e4))), NULL, toFloat64OrNull(e4) >= 9223372036854775807., toInt64(toInt64(9223372036854775807)), toFloat64OrNull(e4) <= -9223372036854775808., toInt64(toInt64('-9223372036854775808')), accurateCastOrNull(trunc(toFloat64OrNull(e4)), 'Int64')))) AS c5
SELECT toUnixTimestamp64Nano(ts), c3, c2, c4, c5
FROM (
WITH multiIf(has(attr_json_keys, {p3:String}), attrs[{p3:String}], mapContains(attrs, {p3:String}), toJSONString(attrs[{p3:String}]), '') AS c0
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c0
FROM logs
WHERE organization_id = {p5:UInt32} AND (service = {p4:String})
)
ARRAY JOIN e8 AS c1, arrayMap(i -> toInt64(i - 1), arrayEnumerate(e8)) AS c2
ORDER BY ts, c2
LIMIT {p7:UInt64}
