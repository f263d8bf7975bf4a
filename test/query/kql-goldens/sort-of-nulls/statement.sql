SELECT c3, c0, c1
FROM (
WITH toInt64(row_number() OVER (ORDER BY c2 ROWS UNBOUNDED PRECEDING)) AS c3
SELECT c0, c1, c3, c2
FROM (
WITH row_number() OVER (ORDER BY c0 DESC NULLS LAST) AS c2
SELECT c0, c1, c2
FROM (
SELECT c0, c1
FROM (SELECT 1) ARRAY JOIN CAST([{p0:Float64}, CAST(NULL, 'Nullable(Float64)'), {p1:Float64}, {p2:Float64}, {p3:Float64}], 'Array(Nullable(Float64))') AS c0, CAST([{p4:String}, {p5:String}, {p6:String}, {p7:String}, {p8:String}], 'Array(String)') AS c1
)
)
)
ORDER BY c0 ASC NULLS LAST, c1 DESC
LIMIT {p9:UInt64}
