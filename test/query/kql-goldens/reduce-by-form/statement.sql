WITH replaceRegexpAll(message, {p0:String}, '*') AS c0, toInt64(count()) AS c1, any(message) AS c2
SELECT c0, c1
FROM logs
WHERE organization_id = {p2:UInt32} AND (service = {p1:String})
GROUP BY c0
ORDER BY c1 DESC, c0
LIMIT {p3:UInt64}
