WITH toString(level) AS e0, attrs[{p7:String}] AS e1
SELECT toUnixTimestamp64Nano(ts), id, toUnixTimestamp64Nano(received_at), level, service, source, host, message, event_id, trace_id, span_id, tuple(mapKeys(attrs), mapValues(attrs), attr_json_keys)
FROM logs
WHERE organization_id = {p11:UInt32} AND ((lower(e0) LIKE {p0:String} AND multiIf(hasToken(lower(e0), {p1:String}), true, match(lower(e0), {p2:String}))) AND (lower(message) LIKE {p3:String} AND multiIf(hasToken(lower(message), {p4:String}), true, match(lower(message), {p5:String}))) AND ((NOT (attrs[{p6:String}] = '')) AND not((lower(e1) LIKE {p8:String} AND multiIf(hasToken(lower(e1), {p9:String}), true, match(lower(e1), {p10:String}))))))
LIMIT {p12:UInt64}
