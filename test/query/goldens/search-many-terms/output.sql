SELECT message
FROM logs
WHERE organization_id = {p7:UInt32} AND (((lower(message) LIKE {p0:String}) AND (lower(message) LIKE {p1:String}) AND (lower(message) LIKE {p2:String}) AND (lower(message) LIKE {p3:String})) OR ((lower(message) LIKE {p4:String}) AND (lower(message) LIKE {p5:String})) OR (lower(message) LIKE {p6:String}))
LIMIT {p8:UInt64}
