/** One question as a KQL text and as the SQL that somebody who knows ClickHouse and the table writes for it. */
export interface KqlCase {
  readonly name: string;
  readonly kql: string;
  /** `LOGS` stands for the table and the conditions that bound it, after which AND may follow. */
  readonly sql: string;
  /** The answer is an estimate or one choice of several, so that two right answers may differ. */
  readonly isApproximate?: true;
}

const STATUS = "toFloat64OrNull(attrs['status'])";
const DURATION = "toFloat64OrNull(attrs['duration_ms'])";
const HAS_FAILED = "lower(message) LIKE '%failed%' AND hasTokenCaseInsensitive(message, 'failed')";

export const kqlCases: readonly KqlCase[] = [
  {
    name: "newest errors of a service",
    kql: "logs | where level == 'error' and service == 'linux-api' | sort by ts desc, id desc | take 100 | project ts, id, host, message",
    sql: "SELECT ts, id, host, message FROM LOGS AND level = 'error' AND service = 'linux-api' ORDER BY ts DESC, id DESC LIMIT 100",
  },
  {
    name: "two hours, contains",
    kql: "logs | where ts between (datetime(2026-01-10T10:00:00Z) .. datetime(2026-01-10T12:00:00Z)) and message contains 'password' | count",
    sql: "SELECT count() FROM LOGS AND ts >= '2026-01-10 10:00:00' AND ts <= '2026-01-10 12:00:00' AND lower(message) LIKE '%password%'",
  },
  {
    name: "has",
    kql: "logs | where message has 'failed' | summarize count() by host",
    sql: `SELECT host, count() FROM LOGS AND ${HAS_FAILED} GROUP BY host`,
  },
  {
    name: "has_any",
    kql: "logs | where message has_any ('failed', 'refused', 'denied') | summarize count() by service",
    sql: "SELECT service, count() FROM LOGS AND multiSearchAnyCaseInsensitive(message, ['failed', 'refused', 'denied']) AND (hasTokenCaseInsensitive(message, 'failed') OR hasTokenCaseInsensitive(message, 'refused') OR hasTokenCaseInsensitive(message, 'denied')) GROUP BY service",
  },
  {
    name: "count by minute",
    kql: "logs | summarize count() by bin(ts, 1m)",
    sql: "SELECT toStartOfMinute(ts) AS minute, count() FROM LOGS GROUP BY minute",
  },
  {
    name: "count by minute and level",
    kql: "logs | summarize count() by bin(ts, 1m), level",
    sql: "SELECT toStartOfMinute(ts) AS minute, level, count() FROM LOGS GROUP BY minute, level",
  },
  {
    name: "dcount",
    kql: "logs | summarize dcount(traceId) by service",
    sql: "SELECT service, uniqCombined(trace_id) FROM LOGS GROUP BY service",
    isApproximate: true,
  },
  {
    name: "percentile of an attribute",
    kql: "logs | summarize percentile(todouble(attrs.duration_ms), 95) by service",
    sql: `SELECT service, quantileTDigest(0.95)(${DURATION}) FROM LOGS GROUP BY service`,
    isApproximate: true,
  },
  {
    name: "top services",
    kql: "logs | where level == 'error' | summarize n = count() by service | top 10 by n desc",
    sql: "SELECT service, count() AS n FROM LOGS AND level = 'error' GROUP BY service ORDER BY n DESC LIMIT 10",
  },
  {
    name: "distinct",
    kql: "logs | distinct service, level",
    sql: "SELECT DISTINCT service, level FROM LOGS",
  },
  {
    name: "attribute, number",
    kql: "logs | where attrs.status >= 500 | summarize count() by service",
    sql: `SELECT service, count() FROM LOGS AND ${STATUS} >= 500 GROUP BY service`,
  },
  {
    name: "attribute, text",
    kql: "logs | where tostring(attrs.user_id) == 'u77777' | project ts, id, message",
    sql: "SELECT ts, id, message FROM LOGS AND attrs['user_id'] = 'u77777'",
  },
  {
    name: "join of two summaries",
    kql: "logs | where level == 'error' | summarize errors = count() by service | join kind=inner (logs | summarize total = count() by service) on service | project service, share = 1.0 * errors / total",
    sql: "SELECT service, errors / total FROM (SELECT service, count() AS errors FROM LOGS AND level = 'error' GROUP BY service) AS a INNER JOIN (SELECT service, count() AS total FROM LOGS GROUP BY service) AS b USING (service)",
  },
  {
    name: "in (subquery)",
    kql: "logs | where host in ((logs | where level == 'fatal' or message has 'panic' | distinct host)) | summarize count() by host",
    sql: "SELECT host, count() FROM LOGS AND host IN (SELECT DISTINCT host FROM LOGS AND (level = 'fatal' OR (lower(message) LIKE '%panic%' AND hasTokenCaseInsensitive(message, 'panic')))) GROUP BY host",
  },
  {
    name: "parse and summarize",
    kql: "logs | where message has 'failed' | parse message with * 'from ' address ' port ' port ' ' * | where isnotempty(address) | summarize count() by address",
    sql: `SELECT extractGroups(message, '(?s)^.*?from (.*?) port (.*?) ')[1] AS address, count() FROM LOGS AND ${HAS_FAILED} AND address != '' GROUP BY address`,
  },
  {
    name: "arg_max by host",
    kql: "logs | summarize arg_max(ts, message) by host",
    sql: "SELECT host, max(ts), argMax(message, ts) FROM LOGS GROUP BY host",
  },
  {
    name: "make_set",
    kql: "logs | summarize make_set(level) by service",
    sql: "SELECT service, groupUniqArray(level) FROM LOGS GROUP BY service",
  },
  {
    name: "countif",
    kql: "logs | summarize errors = countif(level in ('error', 'fatal')), total = count() by bin(ts, 5m), service",
    sql: "SELECT toStartOfFiveMinutes(ts) AS time, service, countIf(level IN ('error', 'fatal')), count() FROM LOGS GROUP BY time, service",
  },
  {
    name: "matches regex",
    kql: "logs | where message matches regex @'user \\w+ from \\d+\\.\\d+' | count",
    sql: "SELECT count() FROM LOGS AND match(message, 'user \\\\w+ from \\\\d+\\\\.\\\\d+')",
  },
  {
    name: "mv-expand",
    kql: "logs | where service == 'linux-api' and level == 'fatal' or service == 'openssh-api' and level == 'error' | extend word = split(message, ' ') | mv-expand word to typeof(string) | summarize n = count() by word | sort by n desc, word asc | take 5",
    sql: "SELECT word, count() AS n FROM (SELECT arrayJoin(splitByChar(' ', message)) AS word FROM LOGS AND (service = 'linux-api' AND level = 'fatal' OR service = 'openssh-api' AND level = 'error')) GROUP BY word ORDER BY n DESC, word LIMIT 5",
  },
];
