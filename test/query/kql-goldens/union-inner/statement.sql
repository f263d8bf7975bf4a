SELECT c3, c4
FROM (
WITH service AS c3, toString(level) AS c4
SELECT c3, c4
FROM logs
WHERE organization_id = {p1:UInt32} AND (level = {p0:String})
UNION ALL
WITH c0 AS c3, c1 AS c4
SELECT c3, c4
FROM (SELECT 1) ARRAY JOIN CAST([{p2:String}], 'Array(String)') AS c0, CAST([{p0:String}], 'Array(String)') AS c1, CAST([{p3:Int64}], 'Array(Nullable(Int64))') AS c2
)
ORDER BY c3
LIMIT {p4:UInt64}
