WITH if(isFinite(toFloat64OrNull(attrs[{p2:String}])), toFloat64OrNull(attrs[{p2:String}]), NULL) AS e0, multiIf(isNotNull(e0), e0, attrs[{p2:String}] = '', NULL, if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p2:String}]))) OR match(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p2:String}]), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p2:String}])), NULL)) AS e1
SELECT toUnixTimestamp64Nano(ts), id, toUnixTimestamp64Nano(received_at), level, service, source, host, message, event_id, trace_id, span_id, tuple(mapKeys(attrs), mapValues(attrs), attr_json_keys)
FROM logs
WHERE organization_id = {p4:UInt32} AND ((attrs[{p0:String}] = {p1:String}) AND (e1 >= {p3:Int64}))
LIMIT {p5:UInt64}
