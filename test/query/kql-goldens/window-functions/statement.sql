SELECT host, toUnixTimestamp64Nano(ts), c4, toUnixTimestamp64Nano(c6), c11, c10, c14, c20, c26
FROM (
WITH toInt64(max(if((ifNull(c22 = {p0:Int64}, false) OR (host != c24)), c22, 0)) OVER (ORDER BY c25 ROWS UNBOUNDED PRECEDING)) AS c26
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c20, c22, c24, c26, c25
FROM (
WITH row_number() OVER (ORDER BY c23) AS c25
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c20, c22, c24, c25
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c20, c22, c24, c23
FROM (
WITH lagInFrame(host, 1, '') OVER (ORDER BY c23 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c24
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c20, c22, c24, c23
FROM (
WITH row_number() OVER (ORDER BY c21) AS c23
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c20, c22, c23
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c20, c22, c21
FROM (
WITH toInt64(row_number() OVER (ORDER BY c21 ROWS UNBOUNDED PRECEDING)) AS c22
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c20, c22, c21
FROM (
WITH row_number() OVER (ORDER BY c19) AS c21
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c20, c21
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c20, c19
FROM (
WITH toInt64(countIf((ifNull(c16 = {p0:Int64}, false) OR (host != c18))) OVER (ORDER BY c19 ROWS UNBOUNDED PRECEDING)) AS c20
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c20, c19
FROM (
WITH row_number() OVER (ORDER BY c17) AS c19
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c19
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c17
FROM (
WITH lagInFrame(host, 1, '') OVER (ORDER BY c17 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c18
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c18, c17
FROM (
WITH row_number() OVER (ORDER BY c15) AS c17
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c17
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c15
FROM (
WITH toInt64(row_number() OVER (ORDER BY c15 ROWS UNBOUNDED PRECEDING)) AS c16
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c16, c15
FROM (
WITH row_number() OVER (ORDER BY c12) AS c15
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c15
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c12
FROM (
WITH if(isFinite(toFloat64OrNull(attrs[{p1:String}])), toFloat64OrNull(attrs[{p1:String}]), NULL) AS e0, multiIf(has(attr_json_keys, {p1:String}), attrs[{p1:String}], mapContains(attrs, {p1:String}), toJSONString(attrs[{p1:String}]), '') AS e1, sum(multiIf(isNotNull(e0), e0, attrs[{p1:String}] = '', NULL, startsWith(e1, '"'), if(isFinite(toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p1:String}]))) OR match(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p1:String}]), '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), toFloat64OrNull(trim(BOTH ' \t\r\n\f\v' FROM attrs[{p1:String}])), NULL), e1 = 'true', toFloat64(1), e1 = 'false', toFloat64(0), toFloat64OrNull(e1))) OVER (PARTITION BY c13 ORDER BY c12 ROWS UNBOUNDED PRECEDING) AS c14
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c14, c12
FROM (
WITH countIf(ifNull(c4 = {p0:Int64}, false)) OVER (ORDER BY c12 ROWS UNBOUNDED PRECEDING) AS c13
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c13, c12
FROM (
WITH row_number() OVER (ORDER BY c9) AS c12
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c12
FROM (
WITH toUnixTimestamp64Nano(ts) AS e2, toUnixTimestamp64Nano(c8) AS e3, if(((e2 - e3) <= e2) = (e3 >= 0), e2 - e3, NULL) AS c11
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c4, c6, c11, c10, c9
FROM (
WITH leadInFrame(toString(level), 1, {p2:String}) OVER (ORDER BY c9 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c10
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c4, c6, c8, c10, c9
FROM (
WITH row_number() OVER (ORDER BY c7) AS c9
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c4, c6, c8, c9
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c4, c6, c8, c7
FROM (
WITH lagInFrame(CAST(ts, 'Nullable(DateTime64(9, \'UTC\'))'), 1, CAST(NULL, 'Nullable(DateTime64(9, \'UTC\'))')) OVER (ORDER BY c7 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c8
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c4, c6, c8, c7
FROM (
WITH row_number() OVER (ORDER BY c5) AS c7
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c4, c6, c7
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c4, c6, c5
FROM (
WITH lagInFrame(CAST(ts, 'Nullable(DateTime64(9, \'UTC\'))'), 1, CAST(NULL, 'Nullable(DateTime64(9, \'UTC\'))')) OVER (ORDER BY c5 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c6
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c4, c6, c5
FROM (
WITH row_number() OVER (ORDER BY c2) AS c5
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c4, c5
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c4, c2
FROM (
WITH toInt64(row_number() OVER (PARTITION BY c3 ORDER BY c2 ROWS UNBOUNDED PRECEDING)) AS c4
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c4, c2
FROM (
WITH countIf((host != c1)) OVER (ORDER BY c2 ROWS UNBOUNDED PRECEDING) AS c3
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c3, c2
FROM (
WITH row_number() OVER (ORDER BY c0) AS c2
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c2
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c0
FROM (
WITH lagInFrame(host, 1, '') OVER (ORDER BY c0 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c1
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c1, c0
FROM (
WITH row_number() OVER (ORDER BY host, ts) AS c0
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys, c0
FROM (
SELECT ts, id, received_at, level, service, source, host, message, event_id, trace_id, span_id, attrs, attr_json_keys
FROM logs
WHERE organization_id = {p4:UInt32} AND (service = {p3:String})
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
)
)
ORDER BY c25
LIMIT {p5:UInt64}
