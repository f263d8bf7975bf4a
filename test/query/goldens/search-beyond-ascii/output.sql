SELECT message
FROM logs
WHERE organization_id = {p2:UInt32} AND (lower(message) LIKE {p0:String} AND NOT isASCII(message) AND match(lower(message), {p1:String}))
LIMIT {p3:UInt64}
