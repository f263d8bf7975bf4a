SELECT id, tuple(mapKeys(attrs), mapValues(attrs), attr_json_keys)
FROM logs
WHERE organization_id = {p0:UInt32} AND (attrs[{p1:String}] = {p2:String})
ORDER BY ts DESC, id DESC
LIMIT {p3:UInt64}
