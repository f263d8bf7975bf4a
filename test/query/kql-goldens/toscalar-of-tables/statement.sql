WITH (({p0:Float64} * (
WITH toInt64(count()) AS c2
SELECT c2
FROM logs
WHERE organization_id = {p2:UInt32} AND (service = {p1:String})
LIMIT {p3:UInt64}
)) / (
WITH toInt64(count()) AS c3
SELECT c3
FROM logs
WHERE organization_id = {p2:UInt32}
LIMIT {p3:UInt64}
)) AS e0, exp10(greatest(least(toInt64({p4:Int64}), 300), -300)) AS e1, ifNull((
WITH multiIf(has(attr_json_keys, {p5:String}), attrs[{p5:String}], mapContains(attrs, {p5:String}), toJSONString(attrs[{p5:String}]), '') AS c4
SELECT c4
FROM logs
WHERE organization_id = {p2:UInt32} AND (service = {p6:String})
LIMIT {p3:UInt64}
), '') AS e2, arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [e2])[1] AS e3, toUnixTimestamp64Nano((
WITH maxOrNull(ts) AS c6
SELECT c6
FROM logs
WHERE organization_id = {p2:UInt32}
LIMIT {p3:UInt64}
)) AS e4, if(not((abs(e0) * e1) < 4503599627370496), toFloat64(e0), sign(e0) * (floor((abs(e0) * e1)) + ((abs(e0) * e1) - floor((abs(e0) * e1)) >= 0.5)) / e1) AS c0, (e3 = '' AND ifNull((
WITH multiIf(has(attr_json_keys, {p5:String}), attrs[{p5:String}], mapContains(attrs, {p5:String}), toJSONString(attrs[{p5:String}]), '') AS c5
SELECT c5
FROM logs
WHERE organization_id = {p2:UInt32} AND (service = {p6:String})
LIMIT {p3:UInt64}
), '') = '') AS c1
SELECT toUnixTimestamp64Nano(ts), c0, CAST(c1, 'Nullable(Bool)')
FROM logs
WHERE organization_id = {p2:UInt32} AND (ts > if(e4 >= {p7:Int64}, fromUnixTimestamp64Nano(e4 + {p8:Int64}, 'UTC'), NULL))
ORDER BY ts
LIMIT {p9:UInt64}
