WITH arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [c0])[1] AS e0, multiIf(has(attr_json_keys, {p0:String}), attrs[{p0:String}], mapContains(attrs, {p0:String}), toJSONString(attrs[{p0:String}]), '') AS c0, e0 AS c1
SELECT c1
FROM logs
WHERE organization_id = {p1:UInt32}
LIMIT {p2:UInt64}
