import type { Payload } from "./payload.ts";

export const LOGGER_PAYLOADS: readonly Payload[] = [
  {
    preset: "pino",
    body:
      '{"level":30,"time":1778536798006,"pid":812,"hostname":"app-1","name":"orders","reqId":"r-1","msg":"request completed",' +
      '"responseTime":12.4}\n{"level":60,"time":1778536799001,"pid":812,"hostname":"app-1","name":"orders","msg":"giving up"}\n',
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "request completed",
      level: "info",
      service: "orders",
      host: "app-1",
      attrs: { pid: 812, reqId: "r-1", responseTime: 12.4 },
    },
    right: { timestamp: "time", message: "msg", level: "level", service: "name", host: "hostname" },
  },
  {
    preset: "bunyan",
    body:
      '{"name":"orders","hostname":"app-1","pid":812,"level":20,"msg":"cache miss","time":"2026-05-11T21:59:58.006Z",' +
      '"v":0,"component":"cache"}\n',
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "cache miss",
      level: "debug",
      service: "orders",
      host: "app-1",
      attrs: { pid: 812, component: "cache" },
    },
    right: { timestamp: "time", message: "msg", level: "level", service: "name", host: "hostname" },
  },
  {
    preset: "winston",
    body: [
      {
        level: "http",
        message: "GET /orders",
        service: "orders",
        timestamp: "2026-05-11T21:59:58.006Z",
        ms: 12,
      },
      {
        level: "error",
        message: "boom",
        service: "orders",
        timestamp: "2026-05-11T21:59:59.006Z",
        stack: "Error: boom",
      },
    ],
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "GET /orders",
      level: "info",
      service: "orders",
      attrs: { ms: 12 },
    },
    right: { timestamp: "timestamp", message: "message", level: "level", service: "service", host: "" },
  },
  {
    preset: "zap",
    body: '{"level":"warn","ts":1778536798.0061235,"logger":"orders","caller":"orders/store.go:97","msg":"slow query","took":1.2}\n',
    entry: {
      ts: "2026-05-11T21:59:58.006123500Z",
      message: "slow query",
      level: "warn",
      attrs: { caller: "orders/store.go:97", logger: "orders", took: 1.2 },
    },
    right: { timestamp: "ts", message: "msg", level: "level", service: "", host: "" },
  },
  {
    preset: "slog",
    body: '{"time":"2026-05-11T21:59:58.006123456Z","level":"ERROR+4","msg":"cannot start","service":"orders","err":"EADDRINUSE"}',
    entry: {
      ts: "2026-05-11T21:59:58.006123456Z",
      message: "cannot start",
      level: "fatal",
      service: "orders",
      attrs: { err: "EADDRINUSE" },
    },
    right: { timestamp: "time", message: "msg", level: "level", service: "service", host: "" },
  },
  {
    preset: "zerolog",
    body: '{"level":"debug","component":"cache","time":"2026-05-11T23:59:58+02:00","message":"cache miss","key":"k1"}\n',
    entry: {
      ts: "2026-05-11T21:59:58.000Z",
      message: "cache miss",
      level: "debug",
      attrs: { component: "cache", key: "k1" },
    },
    right: { timestamp: "time", message: "message", level: "level", service: "", host: "" },
  },
  {
    preset: "logstash-logback",
    body:
      '{"@timestamp":"2026-05-11T23:59:58.006+02:00","@version":"1","message":"cache miss","logger_name":"com.example.Cache",' +
      '"thread_name":"main","level":"DEBUG","level_value":10000,"service":"orders",' +
      '"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331"}\n',
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "cache miss",
      level: "debug",
      service: "orders",
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      attrs: { logger: "com.example.Cache", level_value: 10000 },
    },
    right: { timestamp: "@timestamp", message: "message", level: "level", service: "service", host: "" },
  },
  {
    preset: "ecs-logging",
    body:
      '{"@timestamp":"2026-05-11T21:59:58.006Z","log.level":"warn","message":"slow query","ecs":{"version":"8.10.0"},' +
      '"service":{"name":"orders","version":"1.2"},"host":{"hostname":"app-1"},"trace":{"id":"0af7651916cd43dd8448eb211c80319c"},' +
      '"span":{"id":"b7ad6b7169203331"},"process":{"pid":812}}\n',
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "slow query",
      level: "warn",
      service: "orders",
      host: "app-1",
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      attrs: { "process.pid": 812, "service.version": "1.2" },
    },
    right: {
      timestamp: "@timestamp",
      message: "message",
      level: "log.level",
      service: "service.name",
      host: "host.hostname",
    },
  },
  {
    preset: "serilog-compact",
    body:
      '{"@t":"2026-05-11T21:59:58.0061234Z","@mt":"Order {OrderId} shipped","OrderId":4711,' +
      '"SourceContext":"Shop.Orders","Application":"orders"}\n' +
      '{"@t":"2026-05-11T21:59:59.0061234Z","@mt":"Order {OrderId} lost","@l":"Warning","OrderId":4712,' +
      '"SourceContext":"Shop.Orders","Application":"orders"}\n',
    entry: {
      ts: "2026-05-11T21:59:58.006123400Z",
      message: "Order {OrderId} shipped",
      level: "info",
      service: "orders",
      attrs: { OrderId: 4711, logger: "Shop.Orders" },
    },
    right: {
      timestamp: "@t",
      message: "@mt",
      level: "@l",
      service: "Application",
      host: "",
    },
  },
  {
    preset: "python-json-logger",
    body: '{"asctime":"2026-05-11 21:59:58,006","levelname":"CRITICAL","name":"orders.store","message":"database is gone"}',
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "database is gone",
      level: "fatal",
      attrs: { logger: "orders.store" },
    },
    right: { timestamp: "asctime", message: "message", level: "levelname", service: "", host: "" },
  },
  {
    preset: "structlog",
    body: '{"order":4711,"event":"order shipped","timestamp":"2026-05-11T21:59:58.006123Z","level":"info","logger":"orders"}\n',
    entry: {
      ts: "2026-05-11T21:59:58.006123Z",
      message: "order shipped",
      level: "info",
      attrs: { order: 4711, logger: "orders" },
    },
    right: { timestamp: "timestamp", message: "event", level: "level", service: "", host: "" },
  },
  {
    preset: "loguru",
    body:
      '{"text":"2026-05-11 23:59:58.006 | SUCCESS  | orders.store:save:97 - order shipped\\n","record":{"elapsed":{"repr":"0:00:00.009","seconds":0.009},' +
      '"exception":null,"extra":{"order":4711},"file":{"name":"store.py","path":"/srv/orders/store.py"},"function":"save",' +
      '"level":{"icon":"✅","name":"SUCCESS","no":25},"line":97,"message":"order shipped","module":"store","name":"orders.store",' +
      '"process":{"id":812,"name":"MainProcess"},"thread":{"id":7,"name":"MainThread"},' +
      '"time":{"repr":"2026-05-11 21:59:58.006123+00:00","timestamp":1778536798.006123}}}\n',
    entry: {
      ts: "2026-05-11T21:59:58.006123Z",
      message: "order shipped",
      level: "info",
      attrs: { logger: "orders.store", "extra.order": 4711, "process.pid": 812, "code.line.number": 97 },
    },
    right: {
      timestamp: "record.time.timestamp|record.time.repr",
      message: "record.message|text",
      level: "record.level.name|record.level.no",
      service: "",
      host: "",
    },
  },
  {
    preset: "monolog",
    body: {
      message: "User {id} signed in",
      context: { id: 7 },
      level: 250,
      level_name: "NOTICE",
      channel: "auth",
      datetime: "2026-05-11T23:59:58.006123+02:00",
      extra: { hostname: "app-1" },
    },
    entry: {
      ts: "2026-05-11T21:59:58.006123Z",
      message: "User {id} signed in",
      level: "info",
      host: "app-1",
      attrs: { "context.id": 7, logger: "auth" },
    },
    right: {
      timestamp: "datetime",
      message: "message",
      level: "level_name|level",
      service: "",
      host: "extra.hostname",
    },
  },
  {
    preset: "gelf",
    body: {
      version: "1.1",
      host: "app-1",
      short_message: "slow query",
      timestamp: 1778536798.006,
      level: 4,
      _container_name: "orders",
      _took: 1.2,
    },
    entry: {
      ts: "2026-05-11T21:59:58.006Z",
      message: "slow query",
      level: "warn",
      service: "orders",
      host: "app-1",
      attrs: { _took: 1.2 },
    },
    right: {
      timestamp: "timestamp",
      message: "short_message",
      level: "level",
      service: "_container_name",
      host: "host",
    },
  },
];
