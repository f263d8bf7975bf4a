WITH if(if(isNull(c12) AND isNull(c3), NULL, ifNull(c12 = c3, false)), c14, CAST(NULL, 'Nullable(Int64)')) AS c38, if(if(isNull(c16) AND isNull(c3), NULL, ifNull(c16 = c3, false)), c18, {p0:Int64}) AS c39
SELECT c0, c1, c5, c10, c38, c39, c23, c37
FROM (
WITH (c5 > {p2:Int64}) AS e0, if(if(isNull(c30) AND isNull(c3), NULL, ifNull(c30 = c3, false)), c32, CAST(NULL, 'Nullable(Bool)')) AS e1, toInt64(countIf((ifNull(c28 = {p1:Int64}, false) OR ifNull(if(isNull(e0) AND isNull(e1), NULL, ifNull(e0 != e1, true)) = {p3:Bool}, false))) OVER (PARTITION BY c36 ORDER BY c35 ROWS UNBOUNDED PRECEDING)) AS c37
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c30, c32, c34, c37, c35
FROM (
WITH countIf(if(isNull(c34) AND isNull(c3), NULL, ifNull(c34 != c3, true))) OVER (ORDER BY c35 ROWS UNBOUNDED PRECEDING) AS c36
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c30, c32, c34, c36, c35
FROM (
WITH row_number() OVER (ORDER BY c33) AS c35
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c30, c32, c34, c35
FROM (
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c30, c32, c34, c33
FROM (
WITH lagInFrame(CAST(c3, 'Nullable(Int64)'), 1, CAST(NULL, 'Nullable(Int64)')) OVER (ORDER BY c33 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c34
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c30, c32, c34, c33
FROM (
WITH row_number() OVER (ORDER BY c31) AS c33
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c30, c32, c33
FROM (
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c30, c32, c31
FROM (
WITH lagInFrame(CAST((c5 > {p2:Int64}), 'Nullable(Bool)'), 1, CAST(NULL, 'Nullable(Bool)')) OVER (ORDER BY c31 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c32
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c30, c32, c31
FROM (
WITH row_number() OVER (ORDER BY c29) AS c31
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c30, c31
FROM (
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c30, c29
FROM (
WITH lagInFrame(CAST(c3, 'Nullable(Int64)'), 1, CAST(NULL, 'Nullable(Int64)')) OVER (ORDER BY c29 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c30
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c30, c29
FROM (
WITH row_number() OVER (ORDER BY c26) AS c29
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c29
FROM (
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c26
FROM (
WITH toInt64(row_number() OVER (PARTITION BY c27 ORDER BY c26 ROWS UNBOUNDED PRECEDING)) AS c28
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c28, c26
FROM (
WITH countIf(if(isNull(c25) AND isNull(c3), NULL, ifNull(c25 != c3, true))) OVER (ORDER BY c26 ROWS UNBOUNDED PRECEDING) AS c27
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c27, c26
FROM (
WITH row_number() OVER (ORDER BY c24) AS c26
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c26
FROM (
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c24
FROM (
WITH lagInFrame(CAST(c3, 'Nullable(Int64)'), 1, CAST(NULL, 'Nullable(Int64)')) OVER (ORDER BY c24 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c25
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c25, c24
FROM (
WITH row_number() OVER (ORDER BY c21) AS c24
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c24
FROM (
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c21
FROM (
WITH sum(c5) OVER (PARTITION BY c22 ORDER BY c21 ROWS UNBOUNDED PRECEDING) AS c23
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c23, c21
FROM (
WITH countIf(if(isNull(c20) AND isNull(c3), NULL, ifNull(c20 != c3, true))) OVER (ORDER BY c21 ROWS UNBOUNDED PRECEDING) AS c22
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c22, c21
FROM (
WITH row_number() OVER (ORDER BY c19) AS c21
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c21
FROM (
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c19
FROM (
WITH lagInFrame(CAST(c3, 'Nullable(Int64)'), 1, CAST(NULL, 'Nullable(Int64)')) OVER (ORDER BY c19 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c20
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c20, c19
FROM (
WITH row_number() OVER (ORDER BY c17) AS c19
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c19
FROM (
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c17
FROM (
WITH leadInFrame(CAST(c5, 'Nullable(Int64)'), 1, {p0:Int64}) OVER (ORDER BY c17 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c18
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c18, c17
FROM (
WITH row_number() OVER (ORDER BY c15) AS c17
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c17
FROM (
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c15
FROM (
WITH leadInFrame(CAST(c3, 'Nullable(Int64)'), 1, CAST(NULL, 'Nullable(Int64)')) OVER (ORDER BY c15 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c16
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c16, c15
FROM (
WITH row_number() OVER (ORDER BY c13) AS c15
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c15
FROM (
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c13
FROM (
WITH lagInFrame(CAST(c5, 'Nullable(Int64)'), 1, CAST(NULL, 'Nullable(Int64)')) OVER (ORDER BY c13 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c14
SELECT c0, c1, c3, c5, c7, c10, c12, c14, c13
FROM (
WITH row_number() OVER (ORDER BY c11) AS c13
SELECT c0, c1, c3, c5, c7, c10, c12, c13
FROM (
SELECT c0, c1, c3, c5, c7, c10, c12, c11
FROM (
WITH lagInFrame(CAST(c3, 'Nullable(Int64)'), 1, CAST(NULL, 'Nullable(Int64)')) OVER (ORDER BY c11 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c12
SELECT c0, c1, c3, c5, c7, c10, c12, c11
FROM (
WITH row_number() OVER (ORDER BY c8) AS c11
SELECT c0, c1, c3, c5, c7, c10, c11
FROM (
SELECT c0, c1, c3, c5, c7, c10, c8
FROM (
WITH toInt64(row_number() OVER (PARTITION BY c9 ORDER BY c8 ROWS UNBOUNDED PRECEDING)) AS c10
SELECT c0, c1, c3, c5, c7, c10, c8
FROM (
WITH countIf(if(isNull(c7) AND isNull(c3), NULL, ifNull(c7 != c3, true))) OVER (ORDER BY c8 ROWS UNBOUNDED PRECEDING) AS c9
SELECT c0, c1, c3, c5, c7, c9, c8
FROM (
WITH row_number() OVER (ORDER BY c6) AS c8
SELECT c0, c1, c3, c5, c7, c8
FROM (
SELECT c0, c1, c3, c5, c7, c6
FROM (
WITH lagInFrame(CAST(c3, 'Nullable(Int64)'), 1, CAST(NULL, 'Nullable(Int64)')) OVER (ORDER BY c6 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c7
SELECT c0, c1, c3, c5, c7, c6
FROM (
WITH row_number() OVER (ORDER BY c3 ASC NULLS FIRST, c5 ASC NULLS FIRST) AS c6
SELECT c0, c1, c3, c5, c6
FROM (
WITH arrayMap(z -> if(startsWith(z, '"'), JSONExtractString(z), z), [c4])[1] AS e2, toInt64OrNull(e2) AS e3, multiIf(startsWith(c1, '['), arrayMap(x -> if(x = 'null', '', x), JSONExtractArrayRaw(c1)), startsWith(c1, '{'), arrayMap(x -> concat('{', toJSONString(x.1), ':', x.2, '}'), JSONExtractKeysAndValuesRaw(c1)), [c1]) AS e4, multiIf(isNotNull(e3), e3, e2 = '', NULL, startsWith(c4, '"'), multiIf(isNotNull(toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e2))), toInt64OrNull(trim(BOTH ' \t\r\n\f\v' FROM e2)), (substring(trim(BOTH ' \t\r\n\f\v' FROM e2), 1, 2) IN ('0x', '0X') AND match(substring(trim(BOTH ' \t\r\n\f\v' FROM e2), 3), '^[0-9a-fA-F]{1,16}$')), reinterpretAsInt64(reverse(unhex(leftPad(substring(trim(BOTH ' \t\r\n\f\v' FROM e2), 3), 16, '0')))), NULL), c4 = 'true', toInt64(1), c4 = 'false', toInt64(0), toInt64(multiIf(not(isFinite(toFloat64OrNull(c4))), NULL, toFloat64OrNull(c4) >= 9223372036854775807., toInt64(toInt64(9223372036854775807)), toFloat64OrNull(c4) <= -9223372036854775808., toInt64(toInt64('-9223372036854775808')), accurateCastOrNull(trunc(toFloat64OrNull(c4)), 'Int64')))) AS c5
SELECT c0, c1, c3, c5
FROM (
SELECT c0, c1, c3, c2
FROM (
WITH toInt64(row_number() OVER (ORDER BY c2 ROWS UNBOUNDED PRECEDING)) AS c3
SELECT c0, c1, c3, c2
FROM (
WITH row_number() OVER () AS c2
SELECT c0, c1, c2
FROM (
SELECT c0, c1
FROM (SELECT 1) ARRAY JOIN CAST([{p4:String}, {p5:String}, {p6:String}], 'Array(String)') AS c0, CAST([{p7:String}, {p8:String}, {p9:String}], 'Array(String)') AS c1
)
)
)
)
ARRAY JOIN e4 AS c4
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
)
)
)
)
)
)
)
)
WHERE (c10 <= {p10:Int64})
ORDER BY c0, c10 ASC NULLS FIRST
LIMIT {p11:UInt64}
