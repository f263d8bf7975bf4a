WITH toInt64OrNull(attrs[{p0:String}]) AS e0, multiIf(has(attr_json_keys, {p0:String}), attrs[{p0:String}], mapContains(attrs, {p0:String}), toJSONString(attrs[{p0:String}]), '') AS e1, arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [c1])[1] AS e2, multiIf(startsWith(c0, '['), arrayMap(x -> if(x = 'null', '', x), JSONExtractArrayRaw(c0)), startsWith(c0, '{'), arrayMap(x -> concat('{', toJSONString(x.1), ':', x.2, '}'), JSONExtractKeysAndValuesRaw(c0)), [c0]) AS e3, multiIf(isNotNull(e0), e0, attrs[{p0:String}] = '', NULL, startsWith(e1, '"'), multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}])), (substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), 3), 16, '0')))), NULL), e1 = 'true', toInt64(1), e1 = 'false', toInt64(0), toInt64(multiIf(not(isFinite(toFloat64OrNull(e1))), NULL, toFloat64OrNull(e1) >= 9223372036854775807., toInt64(toInt64(9223372036854775807)), toFloat64OrNull(e1) <= -9223372036854775808., toInt64(toInt64('-9223372036854775808')), accurateCastOrNull(trunc(toFloat64OrNull(e1)), 'Int64')))) AS c2, multiIf(c1 = '', 'null', startsWith(c1, '"'), 'string', startsWith(c1, '{'), 'dictionary', startsWith(c1, '['), 'array', c1 IN ('true', 'false'), 'bool', match(c1, '^-?[0-9]+$'), 'long', 'double') AS c3, e2 AS c4
SELECT c2, c1, c3
FROM (
WITH multiIf(has(attr_json_keys, {p1:String}), attrs[{p1:String}], mapContains(attrs, {p1:String}), toJSONString(attrs[{p1:String}]), '') AS c0
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c0
FROM logs
WHERE organization_id = {p3:UInt32} AND (service = {p2:String})
)
ARRAY JOIN e3 AS c1
ORDER BY c2 ASC NULLS FIRST, c4
LIMIT {p4:UInt64}
