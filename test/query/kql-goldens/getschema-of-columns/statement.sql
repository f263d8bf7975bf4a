SELECT c0, c1, c2, c3
FROM (SELECT 1) ARRAY JOIN CAST([{p0:String}, {p1:String}, {p2:String}, {p3:String}, {p4:String}], 'Array(String)') AS c0, CAST([{p5:Int32}, {p6:Int32}, {p7:Int32}, {p8:Int32}, {p9:Int32}], 'Array(Nullable(Int32))') AS c1, CAST([{p10:String}, {p11:String}, {p12:String}, {p13:String}, {p14:String}], 'Array(String)') AS c2, CAST([{p15:String}, {p16:String}, {p17:String}, {p18:String}, {p19:String}], 'Array(String)') AS c3
LIMIT {p20:UInt64}
