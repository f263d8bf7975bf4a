SELECT toUnixTimestamp64Nano(ts), id, toUnixTimestamp64Nano(received_at), level, service, source, host, message, event_id, trace_id, span_id, tuple(mapKeys(attrs), mapValues(attrs), attr_json_keys)
FROM logs
WHERE organization_id = {p0:UInt32}
LIMIT {p1:UInt64}
