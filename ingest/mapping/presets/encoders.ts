import { SYSLOG_SEVERITIES } from "./linux.ts";
import type { Preset } from "./preset.ts";

/** Layouts of the JVM, .NET, Python and PHP worlds, and those that many libraries share. */
export const ENCODER_PRESETS: readonly Preset[] = [
  {
    // Source: logstash-logback-encoder README, standard fields (@timestamp, @version, message, logger_name, level, ...).
    name: "logstash-logback",
    title: "Logback with the Logstash encoder (Java)",
    description: "LogstashEncoder; customFields or the MDC carry the service's name.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "@timestamp", parse: "iso" },
      fields: {
        message: { from: "message", default: "" },
        level: { from: "level" },
        service: { from: "service", fromDefault: "logger_name" },
        host: { from: "HOSTNAME" },
        traceId: { from: "traceId", fromDefault: "trace_id" },
        spanId: { from: "spanId", fromDefault: "span_id" },
      },
    },
    sample: {
      "@timestamp": "2026-03-04T11:15:30.123+01:00",
      "@version": "1",
      message: "cannot open the ledger",
      logger_name: "com.example.billing.Ledger",
      thread_name: "http-nio-8080-exec-3",
      level: "ERROR",
      level_value: 40000,
      stack_trace:
        "java.io.IOException: no such file\n\tat com.example.billing.Ledger.open(Ledger.java:42)\n",
      traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
      spanId: "00f067aa0ba902b7",
    },
    signs: ["@timestamp", "logger_name", "thread_name", "level_value"],
  },
  {
    // Source: ecs-logging specification (@timestamp, log.level, message, ecs.version, service.name, trace.id, span.id).
    name: "ecs-logging",
    title: "Elastic Common Schema loggers",
    description: "The ecs-logging libraries for Java, .NET, Node.js, Python, Go and Ruby, and Beats.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "@timestamp", parse: "auto" },
      fields: {
        message: { from: "message", default: "" },
        level: { from: "log.level" },
        service: { from: "service.name", fromDefault: "log.logger" },
        host: { from: "host.name", fromDefault: "host.hostname" },
        traceId: { from: "trace.id" },
        spanId: { from: "span.id" },
      },
    },
    sample: {
      "@timestamp": "2026-03-04T10:15:30.123Z",
      "log.level": "ERROR",
      message: "cannot open the ledger",
      "ecs.version": "1.2.0",
      "service.name": "billing",
      "event.dataset": "billing.log",
      "process.thread.name": "main",
      "log.logger": "com.example.billing.Ledger",
      "host.name": "web-1",
      "trace.id": "4bf92f3577b34da6a3ce929d0e0e4736",
    },
    signs: ["@timestamp", "ecs.version", "message"],
  },
  {
    // Source: Serilog.Formatting.Compact README (@t, @mt, @m, @l, @x, @i, @tr, @sp; no @l means Information).
    name: "serilog-compact",
    title: "Serilog compact JSON (.NET)",
    description: "CompactJsonFormatter or, for readable messages, RenderedCompactJsonFormatter.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "@t", parse: "iso" },
      fields: {
        message: { from: "@m", fromDefault: "@mt", default: "" },
        level: { from: "@l", map: { Verbose: "trace" }, default: "info" },
        service: { from: "Application", fromDefault: "SourceContext" },
        host: { from: "MachineName" },
        traceId: { from: "@tr" },
        spanId: { from: "@sp" },
      },
    },
    sample: {
      "@t": "2026-03-04T10:15:30.1234567Z",
      "@mt": "Cannot open {Ledger}",
      "@m": "Cannot open main",
      "@l": "Error",
      "@x": "System.IO.IOException: no such file\n   at Billing.Ledger.Open()",
      "@tr": "4bf92f3577b34da6a3ce929d0e0e4736",
      "@sp": "00f067aa0ba902b7",
      Ledger: "main",
      SourceContext: "Billing.Ledger",
      MachineName: "WEB1",
    },
    signs: ["@t", "@mt"],
  },
  {
    // Source: python-json-logger README (fields of LogRecord: asctime, levelname, name, message) and logging.
    name: "python-json-logger",
    title: "python-json-logger (Python)",
    description: "JsonFormatter with %(asctime)s %(levelname)s %(name)s %(message)s; asctime is read as UTC.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "asctime", fromDefault: "timestamp", parse: "auto" },
      fields: {
        message: { from: "message", default: "" },
        level: { from: "levelname", fromDefault: "level" },
        service: { from: "name" },
        host: { from: "hostname" },
      },
    },
    sample: {
      asctime: "2026-03-04 10:15:30,123",
      levelname: "WARNING",
      name: "billing.ledger",
      message: "ledger is slow",
      funcName: "open",
      lineno: 42,
    },
    signs: ["levelname", "message"],
  },
  {
    // Source: structlog documentation (event is the message; TimeStamper, add_log_level, add_logger_name).
    name: "structlog",
    title: "structlog (Python)",
    description: 'JSONRenderer behind TimeStamper(fmt="iso"), add_log_level and add_logger_name.',
    format: "ndjson",
    mapping: {
      timestamp: { from: "timestamp", parse: "auto" },
      fields: {
        message: { from: "event", default: "" },
        level: { from: "level", map: { exception: "error", notset: "trace" } },
        service: { from: "logger" },
      },
    },
    sample: {
      event: "ledger is slow",
      level: "warning",
      logger: "billing.ledger",
      timestamp: "2026-03-04T10:15:30.123456Z",
      duration: 0.812,
    },
    signs: ["event", "level", "logger", "timestamp"],
  },
  {
    // Source: Monolog, JsonFormatter (message, context, level 100 to 600, level_name, channel, datetime, extra).
    name: "monolog",
    title: "Monolog (PHP)",
    description: "JsonFormatter, Laravel's and Symfony's included.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "datetime", fromDefault: "datetime.date", parse: "auto" },
      fields: {
        message: { from: "message", default: "" },
        level: { from: "level_name" },
        service: { from: "channel" },
        host: { from: "extra.hostname" },
      },
    },
    sample: {
      message: "ledger is slow",
      context: { duration: 812 },
      level: 300,
      level_name: "WARNING",
      channel: "billing",
      datetime: "2026-03-04T10:15:30.123456+00:00",
      extra: {},
    },
    signs: ["level_name", "channel", "datetime"],
  },
  {
    // Source: Graylog, GELF payload specification 1.1 (host, short_message, timestamp in seconds, level of syslog).
    name: "gelf",
    title: "GELF",
    description: "Graylog Extended Log Format 1.1 over HTTP.",
    format: "json",
    mapping: {
      timestamp: { from: "timestamp", parse: "epoch_s" },
      fields: {
        message: { from: "short_message", default: "" },
        level: { from: "level", map: SYSLOG_SEVERITIES, default: "fatal" },
        service: { from: "_service", fromDefault: "_container_name" },
        host: { from: "host" },
      },
    },
    sample: {
      version: "1.1",
      host: "web-1",
      short_message: "cannot open the ledger",
      full_message: "IOException: no such file\n  at Ledger.open",
      timestamp: 1772619330.307,
      level: 3,
      _service: "billing",
      _user_id: 9001,
    },
    signs: ["short_message", "host", "version"],
  },
];
