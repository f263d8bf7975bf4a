import type { Preset } from "./preset.ts";

/** Log libraries of applications, by the JSON that they write when nothing is configured. */
export const LOGGER_PRESETS: readonly Preset[] = [
  {
    // Source: pino API, levels (10 to 60) and the default keys time (milliseconds), pid, hostname, name, msg.
    name: "pino",
    title: "pino (Node.js)",
    description: "pino's default output; name is the logger's.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "time", parse: "auto" },
      fields: {
        message: { from: "msg", default: "" },
        level: { from: "level", map: numericLevels() },
        service: { from: "name" },
        host: { from: "hostname" },
      },
    },
    sample: {
      level: 50,
      time: 1772619330123,
      pid: 4711,
      hostname: "web-1",
      name: "billing",
      msg: "cannot open the ledger",
      err: { type: "Error", message: "ENOENT", stack: "Error: ENOENT\n    at open (ledger.js:3:1)" },
    },
    signs: [{ path: "level", value: /^[1-6]0$/ }, "pid", "hostname", { path: "time", value: /^\d{13}$/ }],
  },
  {
    // Source: bunyan README, core fields (v, level, name, hostname, pid, time, msg) and its six levels.
    name: "bunyan",
    title: "bunyan (Node.js)",
    description: "The records that bunyan writes to its streams.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "time", parse: "iso" },
      fields: {
        message: { from: "msg", default: "" },
        level: { from: "level", map: numericLevels() },
        service: { from: "name" },
        host: { from: "hostname" },
      },
    },
    sample: {
      name: "billing",
      hostname: "web-1",
      pid: 4711,
      level: 40,
      msg: "ledger is slow",
      time: "2026-03-04T10:15:30.123Z",
      v: 0,
    },
    signs: ["v", { path: "level", value: /^[1-6]0$/ }, "hostname", { path: "time", value: /^\d{4}-/ }],
  },
  {
    // Source: winston and logform READMEs (format.json with format.timestamp; defaultMeta carries the service).
    name: "winston",
    title: "winston (Node.js)",
    description:
      "winston with format.combine(format.timestamp(), format.json()) and its npm or syslog levels.",
    format: "json",
    mapping: {
      timestamp: { from: "timestamp", parse: "auto" },
      fields: {
        message: { from: "message", default: "" },
        level: { from: "level", map: { http: "info", silly: "trace", verbose: "debug" } },
        service: { from: "service", fromDefault: "label" },
        host: { from: "hostname" },
      },
    },
    sample: {
      level: "warn",
      message: "ledger is slow",
      service: "billing",
      timestamp: "2026-03-04T10:15:30.123Z",
      durationMs: 812,
    },
    signs: [
      { path: "level", value: /^(error|warn|info|http|verbose|debug|silly)$/ },
      { path: "timestamp", value: /^\d{4}-/ },
      "message",
      "service",
    ],
  },
  {
    // Source: zap, NewProductionEncoderConfig (ts in seconds, level, logger, caller, msg, stacktrace).
    name: "zap",
    title: "zap (Go)",
    description: "The JSON of zap's production encoder.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "ts", parse: "auto" },
      fields: {
        message: { from: "msg", default: "" },
        level: { from: "level" },
        service: { from: "service" },
      },
    },
    sample: {
      level: "error",
      ts: 1772619330.1234567,
      logger: "billing.ledger",
      caller: "ledger/open.go:42",
      msg: "cannot open",
      stacktrace: "main.main\n\t/src/main.go:12",
    },
    signs: ["ts", "level", "caller", "msg"],
  },
  {
    // Source: Go log/slog JSONHandler (time, level, msg, source).
    name: "slog",
    title: "slog (Go)",
    description: "The JSONHandler of log/slog.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "time", parse: "iso" },
      fields: {
        message: { from: "msg", default: "" },
        level: {
          from: "level",
          map: {
            "DEBUG-4": "trace",
            "INFO+1": "info",
            "INFO+2": "info",
            "WARN+1": "warn",
            "ERROR+4": "fatal",
          },
        },
        service: { from: "service" },
      },
    },
    sample: {
      time: "2026-03-04T11:15:30.123456789+01:00",
      level: "WARN",
      msg: "ledger is slow",
      service: "billing",
      duration: 812000000,
    },
    signs: [
      { path: "time", value: /^\d{4}-/ },
      { path: "level", value: /^(DEBUG|INFO|WARN|ERROR)([+-]\d+)?$/ },
      "msg",
    ],
  },
  {
    // Source: zerolog README (level, time as RFC 3339 or epoch seconds, message, error) and its level words.
    name: "zerolog",
    title: "zerolog (Go)",
    description: "zerolog's default fields, with its default or its unix time format.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "time", parse: "auto" },
      fields: {
        message: { from: "message", fromDefault: "error", default: "" },
        level: { from: "level" },
        service: { from: "service" },
      },
    },
    sample: {
      level: "fatal",
      error: "EOF",
      time: 1772619330,
      message: "cannot open the ledger",
      service: "billing",
    },
    signs: [{ path: "level", value: /^(trace|debug|info|warn|error|fatal|panic)$/ }, "time", "message"],
  },
];

/** The six numbers of pino and bunyan. */
function numericLevels(): Record<string, string> {
  return { "10": "trace", "20": "debug", "30": "info", "40": "warn", "50": "error", "60": "fatal" };
}
