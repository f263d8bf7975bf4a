SELECT toUnixTimestamp64Nano(c1), c8, c9
FROM (
WITH c0 AS c1, c0 AS c2
SELECT c1, c2
FROM (SELECT (fromUnixTimestamp64Nano(toUnixTimestamp64Nano(fromUnixTimestamp64Nano({p0:Int64}, 'UTC')) + toInt64(number) * {p1:Int64}, 'UTC')) AS c0 FROM (SELECT number FROM numbers({p2:UInt64})))
) AS l
LEFT JOIN (
WITH c4 AS c7, c5 AS c8, c6 AS c9, c4 AS c10
SELECT c7, c8, c9, c10
FROM (
WITH toInt64OrNull(attrs[{p5:String}]) AS e0, multiIf(has(attr_json_keys, {p5:String}), attrs[{p5:String}], mapContains(attrs, {p5:String}), toJSONString(attrs[{p5:String}]), '') AS e1, toUInt32(intDiv(toUInt64(toUnixTimestamp64Nano(ts)) + {p4:UInt64}, {p3:UInt64})) AS c3, fromUnixTimestamp64Nano(toInt64(c3 * {p3:UInt64} - {p4:UInt64}), 'UTC') AS c4, toInt64(count()) AS c5, toInt64(groupBitOrOrNull(multiIf(isNotNull(e0), e0, attrs[{p5:String}] = '', NULL, startsWith(e1, '"'), multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p5:String}]))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p5:String}])), (substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p5:String}]), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p5:String}]), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p5:String}]), 3), 16, '0')))), NULL), e1 = 'true', toInt64(1), e1 = 'false', toInt64(0), toInt64(multiIf(not(isFinite(toFloat64OrNull(e1))), NULL, toFloat64OrNull(e1) >= 9223372036854775807., toInt64(toInt64(9223372036854775807)), toFloat64OrNull(e1) <= -9223372036854775808., toInt64(toInt64('-9223372036854775808')), accurateCastOrNull(trunc(toFloat64OrNull(e1)), 'Int64')))))) AS c6
SELECT c4, c5, c6
FROM logs
WHERE organization_id = {p6:UInt32}
GROUP BY c3
)
) AS r ON c2 = c10
ORDER BY c1
LIMIT {p7:UInt64}
