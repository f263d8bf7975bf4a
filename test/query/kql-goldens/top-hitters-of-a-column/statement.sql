SELECT service, c0
FROM (
WITH toInt64(count()) AS c0
SELECT service, c0
FROM logs
WHERE organization_id = {p1:UInt32} AND (service != {p0:String})
GROUP BY service
ORDER BY c0 DESC
LIMIT {p2:UInt64}
)
ORDER BY c0 DESC
LIMIT {p3:UInt64}
