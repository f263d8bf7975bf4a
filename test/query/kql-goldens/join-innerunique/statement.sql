WITH arrayMap(z -> if(startsWith(z, '['), arrayMap(y -> concat('[', arrayStringConcat(arrayMap(i -> y[i], arraySort((i, x) -> tuple(x = 'null', multiIf(startsWith(x, '"'), 1, x IN ('true', 'false') OR startsWith(x, '[') OR startsWith(x, '{'), 2, 0), toFloat64OrZero(x), toInt64OrZero(x), if(startsWith(x, '"'), JSONExtractString(x), x)), arrayEnumerate(y), y)), ','), ']'), [JSONExtractArrayRaw(z)])[1], ''), [c12])[1] AS c13
SELECT c2, c7, c10, c11, c13
FROM (
WITH toInt64(count()) AS c10, toInt64(ifNull(uniqCombined64(14)(c3), 0)) AS c11, concat('[', arrayStringConcat(arrayMap(x -> toJSONString(x), arraySlice(arrayDistinct(arrayConcat(groupArray(10000)(c8), groupUniqArray(1048576)(c8))), 1, 1048576)), ','), ']') AS c12
SELECT c2, c7, c10, c11, c12
FROM (
WITH c0 AS c2, c1 AS c3, c0 AS c4
SELECT c2, c3, c4
FROM (SELECT 1) ARRAY JOIN CAST([{p0:Int64}, {p0:Int64}, {p1:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c0, CAST([{p2:String}, {p3:String}, {p4:String}, {p5:String}], 'Array(String)') AS c1
LIMIT {p6:UInt64} BY c0
) AS l
INNER JOIN (
WITH c5 AS c7, c6 AS c8, c5 AS c9
SELECT c7, c8, c9
FROM (SELECT 1) ARRAY JOIN CAST([{p0:Int64}, {p0:Int64}, {p7:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c5, CAST([{p8:String}, {p9:String}, {p10:String}, {p11:String}], 'Array(String)') AS c6
) AS r ON toInt64(c4) <=> toInt64(c9)
GROUP BY c2, c7
)
ORDER BY c2 ASC NULLS FIRST
LIMIT {p12:UInt64}
