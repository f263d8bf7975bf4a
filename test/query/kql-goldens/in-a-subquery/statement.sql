WITH attrs[{p0:String}] AS e0, attrs[{p0:String}] AS c0
SELECT toUnixTimestamp64Nano(ts), c0, host
FROM logs
WHERE organization_id = {p3:UInt32} AND (ifNull(if(isASCII(e0), lower(e0), translateUTF8(lowerUTF8(translateUTF8(e0, 'Σİ', 'σ﷑')), '﷑', 'İ')) IN (
WITH if(isASCII(c1), lower(c1), translateUTF8(lowerUTF8(translateUTF8(c1, 'Σİ', 'σ﷑')), '﷑', 'İ')) AS c2
SELECT c2
FROM (
WITH if(isFinite(toFloat64OrNull(attrs[{p1:String}])), toFloat64OrNull(attrs[{p1:String}]), NULL) AS e1, multiIf(isNotNull(e1), e1, attrs[{p1:String}] = '', NULL, if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p1:String}]))) OR match(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p1:String}]), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p1:String}])), NULL)) AS e2, attrs[{p0:String}] AS c1
SELECT c1
FROM logs
WHERE organization_id = {p3:UInt32} AND (e2 >= {p2:Int64})
GROUP BY c1
)
), false) AND not(ifNull(host IN (
SELECT host
FROM logs
WHERE organization_id = {p3:UInt32} AND (service = {p4:String})
), false)))
ORDER BY ts
LIMIT {p5:UInt64}
