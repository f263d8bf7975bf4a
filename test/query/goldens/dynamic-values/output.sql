WITH multiIf(has(attr_json_keys, {p0:String}), attrs[{p1:String}], mapContains(attrs, {p2:String}), toJSONString(attrs[{p3:String}]), '') AS c0
SELECT c0
FROM logs
WHERE organization_id = {p4:UInt32}
LIMIT {p5:UInt64}
