SELECT c55, c56
FROM (
WITH {p0:String} AS c10, c3 AS c55, c10 AS c56
SELECT c55, c56
FROM (
WITH c0 AS c2, c1 AS c3, c0 AS c4
SELECT c2, c3, c4
FROM (SELECT 1) ARRAY JOIN CAST([{p1:Int64}, {p1:Int64}, {p2:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c0, CAST([{p3:String}, {p4:String}, {p5:String}, {p6:String}], 'Array(String)') AS c1
) AS l
LEFT SEMI JOIN (
WITH c5 AS c7, c6 AS c8, c5 AS c9
SELECT c7, c8, c9
FROM (SELECT 1) ARRAY JOIN CAST([{p1:Int64}, {p1:Int64}, {p7:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c5, CAST([{p8:String}, {p9:String}, {p10:String}, {p11:String}], 'Array(String)') AS c6
) AS r ON toInt64(c4) <=> toInt64(c9)
UNION ALL
WITH {p12:String} AS c21, c14 AS c55, c21 AS c56
SELECT c55, c56
FROM (
WITH c11 AS c13, c12 AS c14, c11 AS c15
SELECT c13, c14, c15
FROM (SELECT 1) ARRAY JOIN CAST([{p1:Int64}, {p1:Int64}, {p7:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c11, CAST([{p8:String}, {p9:String}, {p10:String}, {p11:String}], 'Array(String)') AS c12
) AS l
LEFT SEMI JOIN (
WITH c16 AS c18, c17 AS c19, c16 AS c20
SELECT c18, c19, c20
FROM (SELECT 1) ARRAY JOIN CAST([{p1:Int64}, {p1:Int64}, {p2:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c16, CAST([{p3:String}, {p4:String}, {p5:String}, {p6:String}], 'Array(String)') AS c17
) AS r ON toInt64(c15) <=> toInt64(c20)
UNION ALL
WITH {p13:String} AS c32, c25 AS c55, c32 AS c56
SELECT c55, c56
FROM (
WITH c22 AS c24, c23 AS c25, c22 AS c26
SELECT c24, c25, c26
FROM (SELECT 1) ARRAY JOIN CAST([{p1:Int64}, {p1:Int64}, {p2:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c22, CAST([{p3:String}, {p4:String}, {p5:String}, {p6:String}], 'Array(String)') AS c23
) AS l
LEFT ANTI JOIN (
WITH c27 AS c29, c28 AS c30, c27 AS c31
SELECT c29, c30, c31
FROM (SELECT 1) ARRAY JOIN CAST([{p1:Int64}, {p1:Int64}, {p7:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c27, CAST([{p8:String}, {p9:String}, {p10:String}, {p11:String}], 'Array(String)') AS c28
) AS r ON toInt64(c26) <=> toInt64(c31)
UNION ALL
WITH {p14:String} AS c43, c36 AS c55, c43 AS c56
SELECT c55, c56
FROM (
WITH c33 AS c35, c34 AS c36, c33 AS c37
SELECT c35, c36, c37
FROM (SELECT 1) ARRAY JOIN CAST([{p1:Int64}, {p1:Int64}, {p7:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c33, CAST([{p8:String}, {p9:String}, {p10:String}, {p11:String}], 'Array(String)') AS c34
) AS l
LEFT ANTI JOIN (
WITH c38 AS c40, c39 AS c41, c38 AS c42
SELECT c40, c41, c42
FROM (SELECT 1) ARRAY JOIN CAST([{p1:Int64}, {p1:Int64}, {p2:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c38, CAST([{p3:String}, {p4:String}, {p5:String}, {p6:String}], 'Array(String)') AS c39
) AS r ON toInt64(c37) <=> toInt64(c42)
UNION ALL
WITH {p15:String} AS c54, c47 AS c55, c54 AS c56
SELECT c55, c56
FROM (
WITH c44 AS c46, c45 AS c47, c44 AS c48
SELECT c46, c47, c48
FROM (SELECT 1) ARRAY JOIN CAST([{p1:Int64}, {p1:Int64}, {p2:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c44, CAST([{p3:String}, {p4:String}, {p5:String}, {p6:String}], 'Array(String)') AS c45
) AS l
LEFT ANTI JOIN (
WITH c49 AS c51, c50 AS c52, c49 AS c53
SELECT c51, c52, c53
FROM (SELECT 1) ARRAY JOIN CAST([{p1:Int64}, {p1:Int64}, {p7:Int64}, CAST(NULL, 'Nullable(Int64)')], 'Array(Nullable(Int64))') AS c49, CAST([{p8:String}, {p9:String}, {p10:String}, {p11:String}], 'Array(String)') AS c50
) AS r ON toInt64(c48) <=> toInt64(c53)
)
ORDER BY c56, c55
LIMIT {p16:UInt64}
