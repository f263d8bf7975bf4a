SELECT message
FROM logs
WHERE organization_id = {p4:UInt32} AND (((lower(message) LIKE {p0:String}) AND (lower(message) LIKE {p1:String})) OR ((lower(message) LIKE {p2:String}) AND not((lower(message) LIKE {p3:String}))))
LIMIT {p5:UInt64}
