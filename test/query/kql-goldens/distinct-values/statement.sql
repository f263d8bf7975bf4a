WITH toString(level) AS c0
SELECT service, level
FROM logs
WHERE organization_id = {p0:UInt32}
GROUP BY service, level
ORDER BY service, c0
LIMIT {p1:UInt64}
