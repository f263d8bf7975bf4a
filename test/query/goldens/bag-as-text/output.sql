WITH concat('{', arrayStringConcat(arrayMap((k, v) -> concat(toJSONString(k), ':', multiIf(NOT has(attr_json_keys, k), toJSONString(v), v = '', 'null', v)), mapKeys(attrs), mapValues(attrs)), ','), '}') AS e0, e0 AS c0
SELECT c0
FROM logs
WHERE organization_id = {p0:UInt32}
LIMIT {p1:UInt64}
