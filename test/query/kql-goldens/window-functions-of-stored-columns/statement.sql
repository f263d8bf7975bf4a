SELECT c1, c3, toUnixTimestamp64Nano(c5), toUnixTimestamp64Nano(c7), c13, c19, c21, c23
FROM (
WITH lagInFrame(concat('{', arrayStringConcat(arrayMap((k, v) -> concat(toJSONString(k), ':', multiIf(NOT has(attr_json_keys, k), toJSONString(v), v = '', 'null', v)), mapKeys(attrs), mapValues(attrs)), ','), '}'), 1, '') OVER (ORDER BY c22 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c23
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c17, c19, c21, c23, c22
FROM (
WITH row_number() OVER (ORDER BY c20) AS c22
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c17, c19, c21, c22
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c17, c19, c21, c20
FROM (
WITH lagInFrame(toString(level), 1, {p0:String}) OVER (ORDER BY c20 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c21
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c17, c19, c21, c20
FROM (
WITH row_number() OVER (ORDER BY c18) AS c20
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c17, c19, c20
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c17, c19, c18
FROM (
WITH toInt64(max(if((ifNull(c15 = {p1:Int64}, false) OR ifNull(ifNull(received_at != c17, true) = {p2:Bool}, false)), c15, 0)) OVER (ORDER BY c18 ROWS UNBOUNDED PRECEDING)) AS c19
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c17, c19, c18
FROM (
WITH row_number() OVER (ORDER BY c16) AS c18
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c17, c18
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c17, c16
FROM (
WITH lagInFrame(CAST(received_at, 'Nullable(DateTime64(9, \'UTC\'))'), 1, CAST(NULL, 'Nullable(DateTime64(9, \'UTC\'))')) OVER (ORDER BY c16 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c17
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c17, c16
FROM (
WITH row_number() OVER (ORDER BY c14) AS c16
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c16
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c14
FROM (
WITH toInt64(row_number() OVER (ORDER BY c14 ROWS UNBOUNDED PRECEDING)) AS c15
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c15, c14
FROM (
WITH row_number() OVER (ORDER BY c12) AS c14
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c14
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c12
FROM (
WITH toInt64(countIf((ifNull(c9 = {p1:Int64}, false) OR ifNull(ifNull(id != c11, true) = {p2:Bool}, false))) OVER (ORDER BY c12 ROWS UNBOUNDED PRECEDING)) AS c13
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c13, c12
FROM (
WITH row_number() OVER (ORDER BY c10) AS c12
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c12
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c10
FROM (
WITH lagInFrame(CAST(id, 'Nullable(Int64)'), 1, CAST(NULL, 'Nullable(Int64)')) OVER (ORDER BY c10 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c11
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c11, c10
FROM (
WITH row_number() OVER (ORDER BY c8) AS c10
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c10
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c8
FROM (
WITH toInt64(row_number() OVER (ORDER BY c8 ROWS UNBOUNDED PRECEDING)) AS c9
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c9, c8
FROM (
WITH row_number() OVER (ORDER BY c6) AS c8
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c8
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c6
FROM (
WITH leadInFrame(CAST(received_at, 'Nullable(DateTime64(9, \'UTC\'))'), 2, fromUnixTimestamp64Nano({p3:Int64}, 'UTC')) OVER (ORDER BY c6 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c7
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c7, c6
FROM (
WITH row_number() OVER (ORDER BY c4) AS c6
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c6
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c4
FROM (
WITH lagInFrame(CAST(received_at, 'Nullable(DateTime64(9, \'UTC\'))'), 1, CAST(NULL, 'Nullable(DateTime64(9, \'UTC\'))')) OVER (ORDER BY c4 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c5
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c5, c4
FROM (
WITH row_number() OVER (ORDER BY c2) AS c4
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c4
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c2
FROM (
WITH leadInFrame(CAST(id, 'Nullable(Int64)'), 1, {p4:Int64}) OVER (ORDER BY c2 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c3
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c2
FROM (
WITH row_number() OVER (ORDER BY c0) AS c2
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c2
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c0
FROM (
WITH lagInFrame(CAST(id, 'Nullable(Int64)'), 1, CAST(NULL, 'Nullable(Int64)')) OVER (ORDER BY c0 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c1
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c0
FROM (
WITH row_number() OVER (ORDER BY ts, id) AS c0
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c0
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys
FROM logs
WHERE organization_id = {p5:UInt32}
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
)
ORDER BY c22
LIMIT {p6:UInt64}
