import type { NumberScale } from "./levels.ts";

/**
 * The fields of an entry that a JSON log object may name in its own way, and `logger`, which is the attribute of that name:
 * the part of a program that a record comes from, where the service is the program.
 */
export type RecordField =
  | "time"
  | "level"
  | "message"
  | "service"
  | "logger"
  | "source"
  | "host"
  | "traceId"
  | "spanId";

/** What all keys of a record together say about the meaning of single ones. */
export interface RecordDialect {
  /** `level` counts as syslog does, not as bunyan. */
  readonly isGelf: boolean;
  /** `name` is the program: bunyan and pino write it beside the process and the host. */
  readonly isBunyan: boolean;
}

/** How a level that is a number is read: in which scale, if that is certain. */
export type LevelScale = NumberScale | "words";

/** What a key of a JSON log object stands for. A lower rank wins where several keys name the same field. */
export interface KnownKey {
  readonly field: RecordField;
  readonly rank: number;
  readonly scale: LevelScale;
}

/**
 * The keys by field, the one that says it best first; `a.b` is the key `b` inside the object `a`, or a key with a dot.
 * Lower case stands for any case. They are those of ECS, Bunyan and pino, winston, logrus, zap, slog, structlog, Monolog,
 * Serilog's compact form, log4j's JSON layouts, GELF, journald, Fluent Bit, Docker and the cloud vendors' log entries.
 */
const KEYS: readonly (readonly [RecordField, readonly string[]])[] = [
  [
    "time",
    [
      "@timestamp",
      "timestamp",
      "time",
      "ts",
      "datetime",
      "date_time",
      "timegenerated",
      "eventtime",
      "event_time",
      "timecreated",
      "_time",
      "@t",
      "date",
      "timestampms",
      "timestamp_ms",
      "timemillis",
      "timeunixnano",
      "time_unix_nano",
      "t.$date",
      "__REALTIME_TIMESTAMP",
    ],
  ],
  [
    "level",
    [
      "level",
      "severity",
      "log.level",
      "lvl",
      "levelname",
      "level_name",
      "loglevel",
      "log_level",
      "severity_text",
      "otel.log.severity.text",
      "severitytext",
      "severity_label",
      "severitylevel",
      "eventlevelname",
      "@l",
      "levelno",
      "severity_number",
      "severitynumber",
      "syslog_severity_code",
      "PRIORITY",
    ],
  ],
  [
    "message",
    [
      "message",
      "msg",
      "@m",
      "short_message",
      "textpayload",
      "jsonpayload.message",
      "log",
      "event.original",
      "event",
      "syslogmessage",
      "body",
      "@mt",
      "renderedmessage",
      "messagetemplate",
      "line",
      "_raw",
    ],
  ],
  [
    "service",
    [
      "service.name",
      "service",
      "service_name",
      "servicename",
      "app",
      "application",
      "app_name",
      "appname",
      "application_name",
      "SYSLOG_IDENTIFIER",
    ],
  ],
  ["logger", ["logger", "log.logger", "logger_name", "loggername", "sourcecontext"]],
  ["source", ["source"]],
  [
    "host",
    [
      "host.name",
      "hostname",
      "host.hostname",
      "host",
      "host_name",
      "computer",
      "computername",
      "computer_name",
      "_HOSTNAME",
    ],
  ],
  ["traceId", ["trace_id", "trace.id", "traceid", "oteltraceid"]],
  ["spanId", ["span_id", "span.id", "spanid", "otelspanid"]],
];

/** Keys whose numbers have a scale that is beyond doubt. */
const SCALES: ReadonlyMap<string, LevelScale> = new Map([
  ["level", "bunyan"],
  ["lvl", "bunyan"],
  ["levelno", "python"],
  ["severity_number", "otlp"],
  ["severitynumber", "otlp"],
  ["syslog_severity_code", "syslog"],
  ["PRIORITY", "syslog"],
]);

/** The key of bunyan's program, after all others that say it. */
const BUNYAN_NAME: KnownKey = { field: "service", rank: Number.MAX_SAFE_INTEGER, scale: "words" };
const BUNYAN_KEYS = ["pid", "hostname", "level"];

const TOP = new Map<string, KnownKey>();
const INSIDE = new Map<string, Map<string, KnownKey>>();
for (const [field, keys] of KEYS) {
  for (const [rank, key] of keys.entries()) {
    const known: KnownKey = { field, rank, scale: SCALES.get(key) ?? "words" };
    TOP.set(key, known);
    const [outer = "", inner, ...deeper] = key.split(".");
    if (inner === undefined || deeper.length > 0) continue;
    const inside = INSIDE.get(outer) ?? new Map<string, KnownKey>();
    INSIDE.set(outer, inside.set(inner, known));
  }
}
const LONGEST_KEY = Math.max(...[...TOP.keys()].map((key) => key.length));

/** Keys of logs that have been looked up: the same few come with every record. */
const LOOKED_UP = new Map<string, KnownKey | undefined>();
/** Enough for the keys of many senders; after as many others it is begun anew. */
const LOOKED_UP_MAX = 4096;

export function dialectOf(has: (key: string) => boolean): RecordDialect {
  return {
    isGelf: has("short_message"),
    isBunyan: has("name") && BUNYAN_KEYS.every(has),
  };
}

/** The scale of the numbers under a key. */
export function scaleIn(known: KnownKey, { isGelf }: RecordDialect): LevelScale {
  return known.scale === "bunyan" && isGelf ? "syslog" : known.scale;
}

/** What a top-level key stands for when its value is no object, also where that depends on the other keys. */
export function knownIn(key: string, { isBunyan }: RecordDialect): KnownKey | undefined {
  return isBunyan && key === "name" ? BUNYAN_NAME : knownKey(key);
}

/** What a top-level key stands for when its value is no object, whatever the other keys are. */
function knownKey(key: string): KnownKey | undefined {
  const known = LOOKED_UP.get(key);
  if (known !== undefined || key.length > LONGEST_KEY || LOOKED_UP.has(key)) return known;
  const found = look(TOP, key);
  if (LOOKED_UP.size === LOOKED_UP_MAX) LOOKED_UP.clear();
  LOOKED_UP.set(key, found);
  return found;
}

/** What the keys inside the object under a top-level key stand for; undefined for an object that says nothing known. */
export function knownInside(key: string): ((inner: string) => KnownKey | undefined) | undefined {
  const inside = look(INSIDE, key);
  return inside === undefined ? undefined : (inner) => look(inside, inner);
}

function look<V>(table: ReadonlyMap<string, V>, key: string): V | undefined {
  // Attribute names can be long; only one that may be in the table is worth another case.
  return key.length > LONGEST_KEY ? undefined : (table.get(key) ?? table.get(key.toLowerCase()));
}
