SELECT c1, c2, c6, c7
FROM (
WITH host AS c1, c0 AS c2, host AS c3
SELECT c1, c2, c3
FROM (
WITH toInt64(count()) AS c0
SELECT host, c0
FROM logs
WHERE organization_id = {p1:UInt32} AND (service = {p0:String})
GROUP BY host
)
) AS l
INNER JOIN (
WITH c4 AS c6, c5 AS c7, c4 AS c8
SELECT c6, c7, c8
FROM (SELECT 1) ARRAY JOIN CAST([{p2:String}, {p3:String}, {p4:String}], 'Array(String)') AS c4, CAST([{p5:String}, {p6:String}, {p7:String}], 'Array(String)') AS c5
) AS r ON c3 = c8
ORDER BY c1
LIMIT {p8:UInt64}
