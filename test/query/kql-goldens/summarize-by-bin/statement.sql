WITH (({p0:Float64} * c3) / c2) AS e0, exp10(greatest(least(toInt64({p1:Int64}), 300), -300)) AS e1, if(not((abs(e0) * e1) < 4503599627370496), toFloat64(e0), sign(e0) * (floor((abs(e0) * e1)) + ((abs(e0) * e1) - floor((abs(e0) * e1)) >= 0.5)) / e1) AS c7
SELECT toUnixTimestamp64Nano(c1), c2, c3, c4, c5, c6, c7
FROM (
WITH if(isFinite(toFloat64OrNull(attrs[{p4:String}])), toFloat64OrNull(attrs[{p4:String}]), NULL) AS e2, multiIf(isNotNull(e2), e2, attrs[{p4:String}] = '', NULL, if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p4:String}]))) OR match(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p4:String}]), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p4:String}])), NULL)) AS e3, if(isFinite(toFloat64OrNull(attrs[{p6:String}])), toFloat64OrNull(attrs[{p6:String}]), NULL) AS e4, multiIf(has(attr_json_keys, {p6:String}), attrs[{p6:String}], mapContains(attrs, {p6:String}), toJSONString(attrs[{p6:String}]), '') AS e5, multiIf(isNotNull(e4), e4, attrs[{p6:String}] = '', NULL, startsWith(e5, '"'), if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p6:String}]))) OR match(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p6:String}]), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p6:String}])), NULL), e5 = 'true', toFloat64(1), e5 = 'false', toFloat64(0), toFloat64OrNull(e5)) AS e6, attrs[{p7:String}] AS e7, if(isASCII(e7), lower(e7), translateUTF8(lowerUTF8(translateUTF8(e7, 'Σİ', 'σ﷑')), '﷑', 'İ')) AS e8, toUInt32(intDiv(toUInt64(toUnixTimestamp64Nano(ts)) + {p3:UInt64}, {p2:UInt64})) AS c0, fromUnixTimestamp64Nano(toInt64(c0 * {p2:UInt64} - {p3:UInt64}), 'UTC') AS c1, toInt64(count()) AS c2, toInt64(countIf(ifNull((e3 >= {p5:Int64}), false))) AS c3, ifNull(avg(toFloat64(e6)), nan) AS c4, argMaxIf(e5, tuple(isNull(toFloat64OrNull(e5)), ifNull(toFloat64OrNull(e5), 0), ifNull(toInt64OrNull(e5), 0), e5), e5 != '') AS c5, toInt64(ifNull(uniqCombined64(14)(e8), 0)) AS c6
SELECT c1, c2, c3, c4, c5, c6
FROM logs
WHERE organization_id = {p9:UInt32} AND (service = {p8:String})
GROUP BY c0
)
ORDER BY c1 ASC NULLS FIRST
LIMIT {p10:UInt64}
