SELECT message
FROM logs
WHERE organization_id = {p0:UInt32} AND ((lower(message) LIKE {p1:String}) AND NOT isASCII(message) AND match(lower(message), {p2:String}))
LIMIT {p3:UInt64}
