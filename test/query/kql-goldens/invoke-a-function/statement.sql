SELECT c8, c9, c10, c11, c12
FROM (
WITH service AS c8, c0 AS c9, toString(level) AS c10, c1 AS c11, c2 AS c12
SELECT c8, c9, c10, c11, c12
FROM (
WITH if(isFinite(toFloat64OrNull(attrs[{p0:String}])), toFloat64OrNull(attrs[{p0:String}]), NULL) AS e0, multiIf(has(attr_json_keys, {p0:String}), attrs[{p0:String}], mapContains(attrs, {p0:String}), toJSONString(attrs[{p0:String}]), '') AS e1, multiIf(isNotNull(e0), e0, attrs[{p0:String}] = '', NULL, startsWith(e1, '"'), if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]))) OR match(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}]), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p0:String}])), NULL), e1 = 'true', toFloat64(1), e1 = 'false', toFloat64(0), toFloat64OrNull(e1)) AS c0, attrs[{p1:String}] AS c1, CAST(NULL, 'Nullable(Int64)') AS c2
SELECT service, c0, level, c1, c2
FROM logs
WHERE organization_id = {p3:UInt32} AND (service = {p2:String})
ORDER BY c0 DESC NULLS LAST
LIMIT {p4:UInt64}
)
UNION ALL
WITH {p5:String} AS c4, CAST(NULL, 'Nullable(Float64)') AS c5, {p5:String} AS c6, {p5:String} AS c7, c4 AS c8, c5 AS c9, c6 AS c10, c7 AS c11, c3 AS c12
SELECT c8, c9, c10, c11, c12
FROM (
WITH toInt64(count()) AS c3
SELECT c3
FROM logs
WHERE organization_id = {p3:UInt32} AND (level = {p6:String})
)
)
ORDER BY c9 ASC NULLS FIRST
LIMIT {p7:UInt64}
