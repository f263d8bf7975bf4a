SELECT c15, c16, c17, c18, c19
FROM (
WITH {p0:String} AS c2, {p1:String} AS c3, CAST(NULL, 'Nullable(Float64)') AS c4, c2 AS c15, c0 AS c16, c3 AS c17, c1 AS c18, c4 AS c19
SELECT c15, c16, c17, c18, c19
FROM (SELECT 1) ARRAY JOIN CAST([{p2:Int64}], 'Array(Nullable(Int64))') AS c0, CAST([{p3:String}], 'Array(String)') AS c1
UNION ALL
WITH {p4:String} AS c7, CAST(NULL, 'Nullable(Int64)') AS c8, {p1:String} AS c9, c7 AS c15, c8 AS c16, c5 AS c17, c9 AS c18, c6 AS c19
SELECT c15, c16, c17, c18, c19
FROM (SELECT 1) ARRAY JOIN CAST([{p5:String}], 'Array(String)') AS c5, CAST([{p6:Float64}], 'Array(Nullable(Float64))') AS c6
UNION ALL
WITH {p7:String} AS c10, {p8:String} AS c11, CAST(NULL, 'Nullable(Int64)') AS c12, {p1:String} AS c13, CAST(NULL, 'Nullable(Float64)') AS c14, c11 AS c15, c12 AS c16, c13 AS c17, c10 AS c18, c14 AS c19
SELECT c15, c16, c17, c18, c19
FROM (SELECT 1)
)
ORDER BY c15
LIMIT {p9:UInt64}
