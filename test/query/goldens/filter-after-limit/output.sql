SELECT id, level, tuple(mapKeys(attrs), mapValues(attrs), attr_json_keys)
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys
FROM logs
WHERE organization_id = {p0:UInt32}
ORDER BY ts DESC, id DESC
LIMIT {p1:UInt64}
)
WHERE (level = {p2:String})
ORDER BY ts DESC, id DESC
LIMIT {p3:UInt64}
