WITH extractGroups(message, {p0:String}) AS e0, arrayStringConcat(extractGroups(c0, {p5:String})) AS e1, arrayStringConcat(extractGroups(c0, {p6:String})) AS e2, e0[{p1:Int64}] AS c0, e0[{p2:Int64}] AS c1, arrayStringConcat(extractGroups(c0, {p3:String})) AS c2, arrayStringConcat(extractGroups(c0, {p4:String})) AS c3, multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e1))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e1)), (substring(trim(BOTH ' \t\r\n\f\v' FROM e1), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM e1), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM e1), 3), 16, '0')))), NULL) AS c4, if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e2))) OR match(trim(BOTH ' \t\r\n\f\v' FROM e2), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e2)), NULL) AS c5
SELECT toUnixTimestamp64Nano(ts), c1, c2, c3, c4, c5
FROM logs
WHERE organization_id = {p8:UInt32} AND (service = {p7:String}) AND match(message, {p0:String})
ORDER BY ts
LIMIT {p9:UInt64}
