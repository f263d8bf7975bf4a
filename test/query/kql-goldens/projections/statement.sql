WITH if(isFinite(toFloat64OrNull(attrs[{p1:String}])), toFloat64OrNull(attrs[{p1:String}]), NULL) AS e0, multiIf(isNotNull(e0), e0, attrs[{p1:String}] = '', NULL, if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p1:String}]))) OR match(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p1:String}]), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p1:String}])), NULL)) AS e1, toInt64(lengthUTF8(message)) AS c0
SELECT c0, message, toUnixTimestamp64Nano(ts), host
FROM logs
WHERE organization_id = {p3:UInt32} AND ((service = {p0:String}) AND ifNull(e1 = {p2:Int64}, false))
LIMIT {p4:UInt64}
