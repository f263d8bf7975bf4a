SELECT c4, toUnixTimestamp64Nano(c5), c6, c7, toUnixTimestamp64Nano(c8), c21, toUnixTimestamp64Nano(c22), c23, c24, c25
FROM (
WITH service AS c4, c0 AS c5, c1 AS c6, c2 AS c7, c3 AS c8, service AS c9
SELECT c4, c5, c6, c7, c8, c9
FROM (
WITH maxOrNull(ts) AS c0, argMax(message, ts) AS c1, argMax(host, ts) AS c2, minOrNull(ts) AS c3
SELECT service, c0, c1, c2, c3
FROM logs
WHERE organization_id = {p1:UInt32} AND ifNull(service IN {p0:Array(String)}, false)
GROUP BY service
)
) AS l
INNER JOIN (
WITH service AS c21, c10 AS c22, c13 AS c23, c19 AS c24, c17 AS c25, service AS c26
SELECT c21, c22, c23, c24, c25, c26
FROM (
WITH minOrNull(ts) AS c10, tupleElement(argMin(tuple(toNullable(id)), ts), 1) AS c11, tupleElement(argMin(tuple(toNullable(received_at)), ts), 1) AS c12, toString(argMin(level, ts)) AS c13, argMin(source, ts) AS c14, argMin(host, ts) AS c15, argMin(message, ts) AS c16, argMin(event_id, ts) AS c17, argMin(trace_id, ts) AS c18, argMin(span_id, ts) AS c19, argMin(concat('{', arrayStringConcat(arrayMap((k, v) -> concat(toJSONString(k), ':', multiIf(NOT has(attr_json_keys, k), toJSONString(v), v = '', 'null', v)), mapKeys(attrs), mapValues(attrs)), ','), '}'), ts) AS c20
SELECT service, c10, c13, c19, c17
FROM logs
WHERE organization_id = {p1:UInt32}
GROUP BY service
)
) AS r ON c9 = c26
ORDER BY c4
LIMIT {p2:UInt64}
