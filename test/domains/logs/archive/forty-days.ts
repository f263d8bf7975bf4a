import fc from "fast-check";
import { DAY_MS, NOW_MS } from "../../../archive/archive-setup.ts";
import { idAt, type StoredRow } from "../stored-rows.ts";

/** How many days ago entries were received. */
const DAYS = [40, 39, 33, 26, 20, 14, 8, 5, 2, 1];
const OLDEST_DAY = Math.max(...DAYS);

const SERVICES = ["", "api", "web", "billing"];
const LEVELS = ["", "info", "info", "warn", "error"];
const MESSAGES = [
  (i: number) => `request ${i} done in ${i % 97} ms`,
  (i: number) => `payment ${i} declined by 192.0.2.${i % 5}`,
  () => "disk is full",
  (i: number) => `user=u${i % 7} action=login`,
];

/** Entries received within forty days; the time of some is far from that, a few have one time in common. */
export function fortyDays(
  organizationId: number,
  perDay: number,
  days: readonly number[] = DAYS,
): StoredRow[] {
  return Array.from({ length: days.length * perDay }, (_, n): StoredRow => {
    const [day = 0, i] = [days[Math.floor(n / perDay)], n % perDay];
    const receivedMs = NOW_MS - day * DAY_MS + i * 600_000;
    const drift = i % 6 === 5 ? BigInt((n % 7) - 3) * 86_400_000_000_000n : 0n;
    const tsMs = i % 4 === 3 ? receivedMs - 600_000 : receivedMs;
    return {
      organizationId,
      ts: BigInt(tsMs) * 1_000_000n + drift,
      id: idAt(receivedMs, i),
      message: MESSAGES[n % MESSAGES.length]?.(n) ?? "",
      level: LEVELS[n % LEVELS.length] ?? "",
      service: SERVICES[n % SERVICES.length] ?? "",
      host: n % 3 === 0 ? "h1" : "h2",
      traceId: n % 5 === 0 ? (n % 35).toString(16).padStart(32, "0") : "",
      attrs: [
        ["status", String(200 + (n % 4) * 100)],
        ["user", `u${n % 7}`],
      ],
      jsonKeys: ["status"],
    };
  });
}

const daysAgo = fc.integer({ min: 0, max: OLDEST_DAY + 3 });
const timeOf = (days: number): string => new Date(NOW_MS - days * DAY_MS).toISOString();

/** From an earlier to a later day, both of which may be left open. */
export const timeRange = fc
  .tuple(fc.option(daysAgo), fc.option(daysAgo))
  .map(([one, other]): Record<string, string> => {
    if (one === null) return other === null ? {} : { to: timeOf(other) };
    if (other === null) return { from: timeOf(one) };
    return { from: timeOf(Math.max(one, other)), to: timeOf(Math.min(one, other)) };
  });

const condition = fc.oneof(
  fc.constantFrom(
    "true",
    "level == 'error'",
    "service in ('api', 'billing')",
    "message has 'payment'",
    "message contains 'DISK'",
    "status >= 400 and user != 'u3'",
    "host == 'h1' or level == 'warn'",
    "traceId == '00000000000000000000000000000005'",
    "isempty(service)",
  ),
  daysAgo.map((days) => `ts > datetime(${timeOf(days)})`),
  daysAgo.map((days) => `receivedAt < datetime(${timeOf(days)})`),
  fc.tuple(daysAgo, daysAgo).map(([a, b]) => {
    return `ts between (datetime(${timeOf(Math.max(a, b))}) .. datetime(${timeOf(Math.min(a, b))}))`;
  }),
);

const rest = fc.constantFrom(
  "",
  "| count",
  "| summarize n = count(), first = min(ts), last = max(ts) by service, level",
  "| summarize n = count() by day = bin(ts, 1d) | sort by day asc",
  "| summarize dcount(user), sum(tolong(status)), arg_max(id, message) by host",
  "| extend status = tolong(status), ts = receivedAt | where ts > datetime(2026-11-01) | summarize max(status)",
  "| project ts, id, message, status = attrs.status | sort by ts desc, id asc | take 7",
  "| top 5 by id asc | project id, message, attrs",
  "| distinct service, host | sort by service asc, host asc",
  "| where traceId in ((logs | where level == 'warn' | project traceId)) | project id",
  "| join kind=inner (logs | where message has 'disk' | summarize m = count() by user = tostring(user)) on $left.service == $right.user | count",
  "| project id, service | join kind=leftouter (logs | summarize total = count() by service) on service | summarize sum(total), count()",
  "| parse message with 'request ' number:long ' done' * | summarize sum(number), countif(isnotnull(number))",
  "| mv-expand part = split(message, ' ') to typeof(string) | summarize n = count() by part | sort by n desc, part asc | take 5",
  "| make-series n = count() default = 0 on ts from datetime(2026-10-10) to datetime(2026-11-22) step 7d by level",
  "| sort by id asc | extend before = prev(message) | where strlen(before) > 12 | summarize count(), max(before)",
  "| union (logs | where level == 'error') | summarize n = count() by level",
  "| top-nested 2 of service by n = count(), top-nested 1 of host by m = max(id)",
  "| extend all = toscalar(logs | count) | summarize max(all), count()",
);

/** A query whose answer does not depend on the order in which entries are read. */
export const kqlQuery = fc.tuple(condition, rest).map(([where, then]) => `logs | where ${where} ${then}`);

/** Parameters of a search, and of all that takes the same. */
export const searchParameters = fc
  .tuple(
    timeRange,
    fc.record({
      q: fc.constantFrom("", "payment -declined", "disk OR login", "request"),
      level: fc.constantFrom("", "error", "info"),
      service: fc.constantFrom("", "api"),
      query: fc.oneof(
        fc.constant(""),
        condition,
        fc.constant("traceId in ((logs | where level == 'warn' | project traceId))"),
      ),
    }),
  )
  .map(([range, filters]): Record<string, string> => {
    const given = Object.entries(filters).filter(([, value]) => value !== "");
    return { ...range, ...Object.fromEntries(given) };
  });
