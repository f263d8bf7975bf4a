WITH quantileExactWeightedOrNull({p0:Float64})(c8, toUInt64(greatest(ifNull(c9, 0), 0))) AS c10, toInt64(count()) AS c11
SELECT c7, c10, c11
FROM (
WITH {p1:String} AS c3, c3 AS c7, c0 AS c8, c2 AS c9
SELECT c7, c8, c9
FROM (SELECT 1) ARRAY JOIN CAST([{p2:Int64}], 'Array(Nullable(Int64))') AS c0, CAST([{p3:String}], 'Array(String)') AS c1, CAST([{p4:Int64}], 'Array(Nullable(Int64))') AS c2
UNION ALL
WITH {p5:String} AS c6, c6 AS c7, c4 AS c8, c5 AS c9
SELECT c7, c8, c9
FROM (SELECT 1) ARRAY JOIN CAST([{p6:Int64}], 'Array(Nullable(Int64))') AS c4, CAST([{p2:Int64}], 'Array(Nullable(Int64))') AS c5
)
GROUP BY c7
ORDER BY c7
LIMIT {p7:UInt64}
