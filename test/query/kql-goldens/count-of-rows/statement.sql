WITH toInt64(count()) AS c0
SELECT c0
FROM logs
WHERE organization_id = {p0:UInt32} AND (NOT (trace_id = ''))
LIMIT {p1:UInt64}
