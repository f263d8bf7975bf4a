WITH concat('{', arrayStringConcat(arrayMap((k, v) -> concat(toJSONString(k), ':', if(has(attr_json_keys, k), v, toJSONString(v))), mapKeys(attrs), mapValues(attrs)), ','), '}') AS c0
SELECT c0
FROM logs
WHERE organization_id = {p0:UInt32}
LIMIT {p1:UInt64}
