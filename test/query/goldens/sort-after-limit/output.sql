SELECT id
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys
FROM logs
WHERE organization_id = {p0:UInt32}
LIMIT {p1:UInt64}
)
ORDER BY ts
LIMIT {p2:UInt64}
