SELECT message
FROM logs
WHERE organization_id = {p0:UInt32} AND (((lower(message) LIKE {p1:String}) AND (lower(message) LIKE {p2:String})) OR ((lower(message) LIKE {p3:String}) AND not((lower(message) LIKE {p4:String}))))
LIMIT {p5:UInt64}
