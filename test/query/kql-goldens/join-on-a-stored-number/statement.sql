WITH not(isNull(c0)) AS c6
SELECT c0, c4, CAST(c6, 'Nullable(Bool)')
FROM (
WITH id AS c0, ts AS c1, id AS c2
SELECT c0, c1, c2
FROM logs
WHERE organization_id = {p1:UInt32} AND (level = {p0:String})
) AS l
FULL OUTER JOIN (
WITH c3 AS c4, c3 AS c5
SELECT c4, c5
FROM (SELECT toInt64({p2:Int64} + toInt64(number) * {p3:Int64}) AS c3 FROM (SELECT number FROM numbers({p4:UInt64})))
) AS r ON toInt64(c2) = toInt64(c5)
ORDER BY c0 ASC NULLS FIRST, c4 ASC NULLS FIRST
LIMIT {p5:UInt64}
