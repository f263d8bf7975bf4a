import type { LineCase } from "../line-case.ts";

/** Lines of loggers that have a form of their own, by hand, and what they say. */
export const PRODUCT_LINES: readonly LineCase[] = [
  [
    "2026-01-02T03:04:05.123+01:00  INFO 12345 --- [shop] [main] c.e.shop.Application : Started in 3.2 s",
    {
      form: "spring",
      time: "2026-01-02T02:04:05.123Z",
      level: "info",
      service: "shop",
      message: "Started in 3.2 s",
      attributes: { "process.pid": 12345, "thread.name": "main", logger: "c.e.shop.Application" },
    },
  ],
  [
    "[2026-01-02 03:04:05,123: INFO/MainProcess] celery@web ready.",
    {
      form: "bracketed",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      message: "celery@web ready.",
      attributes: { "thread.name": "MainProcess" },
    },
  ],
  [
    "[2026-01-02T03:04:05Z WARN  shop::ledger] slow",
    {
      form: "bracketed",
      time: "2026-01-02T03:04:05Z",
      level: "warn",
      message: "slow",
      attributes: { logger: "shop::ledger" },
    },
  ],
  [
    "I, [2026-01-02T03:04:05.123456 #1234]  INFO -- billing: opened",
    {
      form: "ruby",
      time: "2026-01-02T03:04:05.123456Z",
      level: "info",
      service: "billing",
      message: "opened",
      attributes: { "process.pid": 1234 },
    },
  ],
  [
    "[02-Jan-2026 03:04:05 UTC] PHP Warning:  Undefined variable $a in /srv/a.php on line 3",
    {
      form: "php",
      time: "2026-01-02T03:04:05Z",
      level: "warn",
      message: "PHP Warning:  Undefined variable $a in /srv/a.php on line 3",
    },
  ],
  [
    "1234:M 02 Jan 2026 03:04:05.123 * Ready to accept connections",
    {
      form: "redis",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      message: "Ready to accept connections",
      attributes: { "log.level": "notice", "process.pid": 1234, "redis.role": "master" },
    },
  ],
  [
    "1234:M 02 Jan 2026 03:04:05.123 # Server can't set maximum open files",
    {
      form: "redis",
      time: "2026-01-02T03:04:05.123Z",
      level: "warn",
      message: "Server can't set maximum open files",
      attributes: { "process.pid": 1234, "redis.role": "master" },
    },
  ],
  [
    "2026-01-02T03:04:05.123+0000 I NETWORK  [listener] connection accepted from 127.0.0.1:52652 #1",
    {
      form: "mongodb",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      message: "connection accepted from 127.0.0.1:52652 #1",
      attributes: { logger: "NETWORK", "thread.name": "listener" },
    },
  ],
  [
    "I0102 15:04:05.000000   12345 controller.go:123] syncing",
    {
      form: "glog",
      time: "2026-01-02T15:04:05Z",
      level: "info",
      message: "syncing",
      attributes: { "thread.id": 12345, "code.file.path": "controller.go", "code.line.number": 123 },
    },
  ],
  [
    "E0102 15:04:05.123456       1 reflector.go:138] failed to list",
    {
      form: "glog",
      time: "2026-01-02T15:04:05.123456Z",
      level: "error",
      message: "failed to list",
      attributes: { "thread.id": 1, "code.file.path": "reflector.go", "code.line.number": 138 },
    },
  ],
  [
    "D/WindowManager( 1702): hello",
    {
      form: "android",
      level: "debug",
      message: "hello",
      attributes: { logger: "WindowManager", "process.pid": 1702 },
    },
  ],
  [
    "03-17 16:13:38.811  1702  2395 E AndroidRuntime: FATAL EXCEPTION: main",
    {
      form: "android",
      time: "2026-03-17T16:13:38.811Z",
      level: "error",
      message: "FATAL EXCEPTION: main",
      attributes: { "process.pid": 1702, "thread.id": 2395, logger: "AndroidRuntime" },
    },
  ],
  [
    "[I 2026-01-02 03:04:05.678 ServerApp] Jupyter Server is running",
    {
      form: "tornado",
      time: "2026-01-02T03:04:05.678Z",
      level: "info",
      message: "Jupyter Server is running",
      attributes: { logger: "ServerApp" },
    },
  ],
  [
    "WARNING:billing.ledger:slow",
    { form: "levelled", level: "warn", message: "slow", attributes: { logger: "billing.ledger" } },
  ],
  [
    'INFO:     127.0.0.1:51234 - "GET / HTTP/1.1" 200 OK',
    { form: "levelled", level: "info", message: '127.0.0.1:51234 - "GET / HTTP/1.1" 200 OK' },
  ],
  ["[WARN] slow", { form: "levelled", level: "warn", message: "slow" }],
  ["ERROR: cannot open", { form: "levelled", level: "error", message: "cannot open" }],
  [
    "Jan 02, 2026 3:04:05 PM org.foo.Bar method",
    {
      form: "java.util.logging",
      time: "2026-01-02T15:04:05Z",
      message: "",
      attributes: { logger: "org.foo.Bar", "code.function.name": "method" },
    },
  ],
];
