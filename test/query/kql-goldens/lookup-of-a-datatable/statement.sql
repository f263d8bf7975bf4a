WITH ifNull(c8, '') AS c11
SELECT c1, c2, c11, c9
FROM (
WITH host AS c1, c0 AS c2, host AS c3
SELECT c1, c2, c3
FROM (
WITH toInt64(count()) AS c0
SELECT host, c0
FROM logs
WHERE organization_id = {p0:UInt32}
GROUP BY host
)
) AS l
LEFT JOIN (
WITH c4 AS c7, c5 AS c8, c6 AS c9, c4 AS c10
SELECT c7, c8, c9, c10
FROM (SELECT 1) ARRAY JOIN CAST([{p1:String}, {p2:String}], 'Array(String)') AS c4, CAST([{p3:String}, {p4:String}], 'Array(String)') AS c5, CAST([{p5:Int64}, {p6:Int64}], 'Array(Nullable(Int64))') AS c6
) AS r ON c3 = c10
ORDER BY c1
LIMIT {p7:UInt64}
