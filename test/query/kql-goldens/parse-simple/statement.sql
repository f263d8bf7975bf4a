WITH extractGroups(message, {p0:String}) AS e0, e0[{p2:Int64}] AS e1, e0[{p3:Int64}] AS e2, e0[{p1:Int64}] AS c0, if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e1))) OR match(trim(BOTH ' \t\r\n\f\v' FROM e1), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e1)), NULL) AS c1, multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e2))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e2)), (substring(trim(BOTH ' \t\r\n\f\v' FROM e2), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM e2), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM e2), 3), 16, '0')))), NULL) AS c2, e0[{p4:Int64}] AS c3
SELECT toUnixTimestamp64Nano(ts), c0, c1, c2, c3
FROM logs
WHERE organization_id = {p6:UInt32} AND (service = {p5:String})
ORDER BY ts
LIMIT {p7:UInt64}
