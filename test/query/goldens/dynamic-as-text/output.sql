WITH multiIf(has(attr_json_keys, {p0:String}), attrs[{p1:String}], mapContains(attrs, {p2:String}), toJSONString(attrs[{p3:String}]), '') AS c0, if(startsWith(c0, '"'), JSONExtractString(c0), c0) AS c1
SELECT c1
FROM logs
WHERE organization_id = {p4:UInt32}
LIMIT {p5:UInt64}
