WITH ifNull(c3, '') AS c10, ifNull(c8, '') AS c11
SELECT c2, c10, c7, c11
FROM (
WITH c0 AS c2, c1 AS c3, c0 AS c4
SELECT c2, c3, c4
FROM (SELECT 1) ARRAY JOIN CAST([{p0:Int64}, {p0:Int64}, {p1:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c0, CAST([{p2:String}, {p3:String}, {p4:String}, {p5:String}], 'Array(String)') AS c1
) AS l
FULL OUTER JOIN (
WITH c5 AS c7, c6 AS c8, c5 AS c9
SELECT c7, c8, c9
FROM (SELECT 1) ARRAY JOIN CAST([{p0:Int64}, {p0:Int64}, {p6:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c5, CAST([{p7:String}, {p8:String}, {p9:String}, {p10:String}], 'Array(String)') AS c6
) AS r ON toInt64(c4) <=> toInt64(c9)
ORDER BY c10, c11
LIMIT {p11:UInt64}
