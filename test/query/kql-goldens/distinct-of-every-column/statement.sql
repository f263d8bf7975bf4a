WITH ifNull(nullIf(JSONExtractRaw(c1, {p0:String}), 'null'), '') AS e0, if(startsWith(e0, '"'), JSONExtractString(e0), e0) AS e1, e1 AS c2, toString(level) AS c3, ifNull(nullIf(JSONExtractRaw(c1, {p0:String}), 'null'), '') AS c4
SELECT level, c4, c1
FROM (
WITH concat('{', arrayStringConcat(arrayMap((k, v) -> concat(toJSONString(k), ':', multiIf(NOT has(attr_json_keys, k), toJSONString(v), v = '', 'null', v)), mapKeys(attrs), mapValues(attrs)), ','), '}') AS e2, e2 AS c0, any(concat('{', arrayStringConcat(arrayMap((k, v) -> concat(toJSONString(k), ':', multiIf(NOT has(attr_json_keys, k), toJSONString(v), v = '', 'null', v)), mapKeys(attrs), mapValues(attrs)), ','), '}')) AS c1
SELECT level, c1
FROM logs
WHERE organization_id = {p1:UInt32}
GROUP BY level, c0
)
WHERE (NOT (e1 = ''))
ORDER BY c2, c3
LIMIT {p2:UInt64}
