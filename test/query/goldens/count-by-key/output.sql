WITH attrs[{p0:String}] AS c0, toInt64(count()) AS c1
SELECT service, c0, c1
FROM logs
WHERE organization_id = {p1:UInt32}
GROUP BY service, c0
ORDER BY c1 DESC
LIMIT {p2:UInt64}
