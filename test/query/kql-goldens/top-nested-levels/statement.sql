SELECT c1, c2, c5, c6
FROM (
WITH service AS c1, c0 AS c2
SELECT c1, c2
FROM (
WITH toInt64(count()) AS c0
SELECT service, c0
FROM logs
WHERE organization_id = {p1:UInt32} AND ifNull(service IN {p0:Array(String)}, false)
GROUP BY service
ORDER BY c0 DESC
LIMIT {p2:UInt64}
)
ORDER BY c0 DESC
) AS l
INNER JOIN (
WITH service AS c4, host AS c5, c3 AS c6
SELECT c4, c5, c6
FROM (
WITH toInt64(count()) AS c3
SELECT service, host, c3
FROM logs
WHERE organization_id = {p1:UInt32} AND ifNull(service IN {p0:Array(String)}, false)
GROUP BY service, host
ORDER BY c3 DESC
LIMIT {p3:UInt64} BY service
)
ORDER BY c3 DESC
) AS r ON c1 = c4
ORDER BY c1, c5
LIMIT {p4:UInt64}
