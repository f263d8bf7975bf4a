SELECT message
FROM logs
WHERE organization_id = {p7:UInt32} AND ((NOT isASCII(message) AND match(lower(message), {p0:String})) OR (NOT isASCII(message) AND match(lower(message), {p1:String})) OR ((lower(message) LIKE {p2:String} AND multiIf(hasToken(lower(message), {p3:String}), true, match(lower(message), {p4:String}))) OR (lower(message) LIKE {p5:String} AND match(lower(message), {p6:String}))))
ORDER BY message
LIMIT {p8:UInt64}
