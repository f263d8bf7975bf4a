SELECT id, tuple(mapKeys(attrs), mapValues(attrs), attr_json_keys)
FROM logs
WHERE organization_id = {p2:UInt32} AND (attrs[{p0:String}] = {p1:String})
ORDER BY ts DESC, id DESC
LIMIT {p3:UInt64}
