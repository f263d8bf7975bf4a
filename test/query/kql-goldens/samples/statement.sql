WITH toInt64(count()) AS c1
SELECT service, c1
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys
FROM (
WITH randCanonical() AS c0
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c0
FROM logs
WHERE organization_id = {p1:UInt32} AND ifNull(host IN (
SELECT host
FROM logs
WHERE organization_id = {p1:UInt32} AND (service = {p0:String})
GROUP BY host
LIMIT {p2:UInt64}
), false)
ORDER BY c0
LIMIT {p3:UInt64}
)
ORDER BY c0
)
GROUP BY service
ORDER BY service
LIMIT {p3:UInt64}
