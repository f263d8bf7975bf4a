WITH if(isFinite(toFloat64OrNull(attrs[{p0:String}])), toFloat64OrNull(attrs[{p0:String}]), NULL) AS e0, multiIf(has(attr_json_keys, {p0:String}), attrs[{p0:String}], mapContains(attrs, {p0:String}), toJSONString(attrs[{p0:String}]), '') AS e1, multiIf(isNotNull(e0), e0, attrs[{p0:String}] = '', NULL, startsWith(e1, '"'), if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]))) OR match(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}])), NULL), e1 = 'true', toFloat64(1), e1 = 'false', toFloat64(0), toFloat64OrNull(e1)) AS e2, toInt64(count()) AS c0, ifNull(sum(e2), toFloat64(0)) AS c1
SELECT host, c0, c1
FROM logs
WHERE organization_id = {p2:UInt32} AND (service = {p1:String})
GROUP BY host
LIMIT {p3:UInt64}
