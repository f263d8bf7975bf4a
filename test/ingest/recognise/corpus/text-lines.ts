import type { LineCase } from "../line-case.ts";

/** Lines of a time, its usual company and a text, by hand, and what they say. */
export const TEXT_LINES: readonly LineCase[] = [
  [
    "2026-01-02T03:04:05.678Z INFO  com.example.Ledger - ledger is open",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.678Z",
      level: "info",
      message: "ledger is open",
      attributes: { logger: "com.example.Ledger" },
    },
  ],
  [
    "2026-01-02 03:04:05,678 WARN [http-nio-1] o.e.n.Node: slow answer",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.678Z",
      level: "warn",
      message: "slow answer",
      attributes: { "thread.name": "http-nio-1", logger: "o.e.n.Node" },
    },
  ],
  [
    "2026-01-02 03:04:05.123 [main] INFO  c.f.Bar - started in 3 s",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      message: "started in 3 s",
      attributes: { "thread.name": "main", logger: "c.f.Bar" },
    },
  ],
  [
    "2026-01-02 03:04:05,123 - billing.ledger - ERROR - cannot open",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "error",
      message: "cannot open",
      attributes: { logger: "billing.ledger" },
    },
  ],
  [
    "2026-01-02 03:04:05,123 ERROR billing.ledger cannot open",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "error",
      message: "billing.ledger cannot open",
    },
  ],
  [
    "2026-01-02 03:04:05.123 | WARNING  | billing.ledger:open:42 - slow",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "warn",
      message: "slow",
      attributes: { logger: "billing.ledger", "code.function.name": "open", "code.line.number": 42 },
    },
  ],
  [
    "[2026-01-02 03:04:05 +0000] [12] [INFO] Starting gunicorn 20.1.0",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05Z",
      level: "info",
      message: "Starting gunicorn 20.1.0",
      attributes: { "process.pid": 12 },
    },
  ],
  [
    "2026-01-02T03:04:05.123456Z  INFO shop::ledger: opened in 3ms",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123456Z",
      level: "info",
      message: "opened in 3ms",
      attributes: { logger: "shop::ledger" },
    },
  ],
  [
    '[2026-01-02T03:04:05.123456+00:00] billing.WARNING: slow {"a":1} []',
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123456Z",
      level: "warn",
      message: 'slow {"a":1} []',
      attributes: { logger: "billing" },
    },
  ],
  [
    '[2026-01-02 03:04:05] production.ERROR: cannot open {"exception":"x"}',
    {
      form: "stamped",
      time: "2026-01-02T03:04:05Z",
      level: "error",
      message: 'cannot open {"exception":"x"}',
      attributes: { logger: "production" },
    },
  ],
  [
    "2026-01-02 03:04:05.123 +00:00 [INF] Started",
    { form: "stamped", time: "2026-01-02T03:04:05.123Z", level: "info", message: "Started" },
  ],
  [
    "2026-01-02 03:04:05.1234|ERROR|Shop.Ledger|cannot open",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.1234Z",
      level: "error",
      message: "cannot open",
      attributes: { logger: "Shop.Ledger" },
    },
  ],
  [
    '2026-01-02T03:04:05.123Z\terror\tbilling.ledger\tledger/open.go:42\tcannot open\t{"a": 1}',
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "error",
      message: 'cannot open\t{"a": 1}',
      attributes: {
        logger: "billing.ledger",
        "code.file.path": "ledger/open.go",
        "code.line.number": 42,
      },
    },
  ],
  [
    "2026-01-02T03:04:05.123Z [INFO]  agent: started",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      message: "started",
      attributes: { logger: "agent" },
    },
  ],
  [
    '2026/01/02 03:04:05 [error] 123#456: *7 open() "/srv/x" failed (2: No such file), client: 203.0.113.9, server: shop',
    {
      form: "stamped",
      time: "2026-01-02T03:04:05Z",
      level: "error",
      message: '*7 open() "/srv/x" failed (2: No such file), client: 203.0.113.9, server: shop',
      attributes: { "process.pid": 123, "thread.id": 456 },
    },
  ],
  [
    "2026/01/02 03:04:05 listening on :8080",
    { form: "stamped", time: "2026-01-02T03:04:05Z", message: "listening on :8080" },
  ],
  [
    "2006/01/02 15:04:05.000000 main.go:12: hello",
    { form: "stamped", time: "2006-01-02T15:04:05Z", message: "main.go:12: hello" },
  ],
  [
    "[Fri Sep 09 10:42:29.902022 2011] [core:error] [pid 35708:tid 4328636416] [client 72.15.99.187:4711] File does not exist: /usr/local/favicon.ico",
    {
      form: "stamped",
      time: "2011-09-09T10:42:29.902022Z",
      level: "error",
      message: "File does not exist: /usr/local/favicon.ico",
      attributes: {
        logger: "core",
        "process.pid": 35708,
        "thread.id": 4328636416,
        "client.address": "72.15.99.187",
        "client.port": 4711,
      },
    },
  ],
  [
    "[Sun Dec 04 04:47:44 2005] [error] [client 1.2.3.4] Directory index forbidden",
    {
      form: "stamped",
      time: "2005-12-04T04:47:44Z",
      level: "error",
      message: "Directory index forbidden",
      attributes: { "client.address": "1.2.3.4" },
    },
  ],
  [
    "2026-01-02 03:04:05.123 UTC [123] LOG:  database system is ready to accept connections",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      message: "database system is ready to accept connections",
      attributes: { "process.pid": 123 },
    },
  ],
  [
    '2026-01-02 03:04:05.123 CET [123] app@shop ERROR:  relation "x" does not exist at character 15',
    {
      form: "stamped",
      time: "2026-01-02T02:04:05.123Z",
      level: "error",
      message: 'relation "x" does not exist at character 15',
      attributes: { "process.pid": 123, "user.name": "app", "db.namespace": "shop" },
    },
  ],
  [
    "2026-01-02T03:04:05.123456Z 0 [Warning] [MY-010068] [Server] CA certificate ca.pem is self signed.",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123456Z",
      level: "warn",
      message: "CA certificate ca.pem is self signed.",
      attributes: { "thread.id": 0, "error.code": "MY-010068", "thread.name": "Server" },
    },
  ],
  [
    "2026-01-02  3:04:05 0 [Note] InnoDB: Using Linux native AIO",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05Z",
      level: "info",
      message: "Using Linux native AIO",
      attributes: { "log.level": "note", "thread.id": 0, logger: "InnoDB" },
    },
  ],
  [
    "2026-01-02 03:04:05.123456+00:00 [info] <0.123.0> Server startup complete",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123456Z",
      level: "info",
      message: "Server startup complete",
      attributes: { "thread.name": "0.123.0" },
    },
  ],
  [
    "[2026-01-02 03:04:05,123] INFO [Log partition=t-0, dir=/data] Loading (kafka.log.UnifiedLog)",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      message: "[Log partition=t-0, dir=/data] Loading",
      attributes: { logger: "kafka.log.UnifiedLog" },
    },
  ],
  [
    "[2026-01-02 03:04:05,123] WARN slow answer (kafka.server.KafkaApis)",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "warn",
      message: "slow answer",
      attributes: { logger: "kafka.server.KafkaApis" },
    },
  ],
  [
    "[2026-01-02T03:04:05,123][INFO ][o.e.n.Node               ] [node-1] started",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      message: "[node-1] started",
      attributes: { logger: "o.e.n.Node" },
    },
  ],
  [
    "2026.01.02 03:04:05.123456 [ 1234 ] {f0a} <Information> Application: Ready for connections.",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123456Z",
      level: "info",
      message: "Ready for connections.",
      attributes: { "process.pid": 1234, "db.query.id": "f0a", logger: "Application" },
    },
  ],
  [
    "02-Jan-2026 03:04:05.123 INFO [main] org.apache.catalina.startup.Catalina.start Server startup in [123] milliseconds",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      message: "Server startup in [123] milliseconds",
      attributes: { "thread.name": "main", logger: "org.apache.catalina.startup.Catalina.start" },
    },
  ],
  [
    "1066036250.603    310 140.114.70.30 TCP_MISS/200 3322 GET http://www.google.com/ - DIRECT/216.239.51.99 text/html",
    {
      form: "stamped",
      time: "2003-10-13T09:10:50.603Z",
      message:
        "310 140.114.70.30 TCP_MISS/200 3322 GET http://www.google.com/ - DIRECT/216.239.51.99 text/html",
    },
  ],
  [
    "2026-01-02 03:04:05 Error while reading file",
    { form: "stamped", time: "2026-01-02T03:04:05Z", message: "Error while reading file" },
  ],
  [
    "2026-01-02 03:04:05 error while reading file",
    { form: "stamped", time: "2026-01-02T03:04:05Z", message: "error while reading file" },
  ],
  [
    "2026-01-02 03:04:05 ALL tests passed",
    { form: "stamped", time: "2026-01-02T03:04:05Z", message: "ALL tests passed" },
  ],
  [
    "web-1  | 2026-01-02 03:04:05,123 INFO [main] a.b.C: hi",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      service: "web-1",
      message: "hi",
      attributes: { "thread.name": "main", logger: "a.b.C" },
    },
  ],
  [
    "app.log:2026-01-02 03:04:05,123 INFO [main] a.b.C: hi",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      message: "hi",
      attributes: { "thread.name": "main", logger: "a.b.C", "log.file.name": "app.log" },
    },
  ],
  [
    "2015-10-18 18:01:47 25746 INFO nova.compute [-] hi",
    {
      form: "stamped",
      time: "2015-10-18T18:01:47Z",
      level: "info",
      message: "hi",
      attributes: { "process.pid": 25746, logger: "nova.compute" },
    },
  ],
  ["2026-01-02 03:04:05,42,foo", { form: "stamped", time: "2026-01-02T03:04:05Z", message: "42,foo" }],
  [
    "20151018-18:01:47:978|Step_LSC|30002312|onStandStepChanged 3579",
    {
      form: "stamped",
      time: "2015-10-18T18:01:47.978Z",
      message: "Step_LSC|30002312|onStandStepChanged 3579",
    },
  ],
  [
    "Thu Jan 02 2026 03:04:05 GMT+0100 hello",
    { form: "stamped", time: "2026-01-02T02:04:05Z", message: "hello" },
  ],
  [
    "Mar  1 18:46:11: %SYS-5-CONFIG_I: Configured from console",
    { form: "stamped", time: "2026-03-01T18:46:11Z", message: "%SYS-5-CONFIG_I: Configured from console" },
  ],
  [
    "2026-01-02 03:04:05.678 [worker-1] DEBUG c.e.Pool - 3 idle {order=7}",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.678Z",
      level: "debug",
      message: "3 idle {order=7}",
      attributes: { "thread.name": "worker-1", logger: "c.e.Pool" },
    },
  ],
  [
    "2026-01-02T03:04:05,678+0530 ERROR shop cannot open",
    { form: "stamped", time: "2026-01-01T21:34:05.678Z", level: "error", message: "shop cannot open" },
  ],
  [
    "[2026-01-02 03:04:05.678] [INFO] default - log4js line",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.678Z",
      level: "info",
      message: "log4js line",
      attributes: { logger: "default" },
    },
  ],
  [
    "2026-01-02 03:04:05,678 [7] WARN  Shop.Ledger - log4net line",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.678Z",
      level: "warn",
      message: "log4net line",
      attributes: { "process.pid": 7, logger: "Shop.Ledger" },
    },
  ],
  [
    "2026-01-02T03:04:05.678901234Z warn\tshop/main.go:12\tslow",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05.678901234Z",
      level: "warn",
      message: "slow",
      attributes: { "code.file.path": "shop/main.go", "code.line.number": 12 },
    },
  ],
  [
    "1700000000.250 INFO started",
    { form: "stamped", time: "2023-11-14T22:13:20.25Z", level: "info", message: "started" },
  ],
  [
    "1700000000123\tINFO\tstarted",
    { form: "stamped", time: "2023-11-14T22:13:20.123Z", level: "info", message: "started" },
  ],
  [
    "2026-01-02 3:04:05 PM INFO started",
    { form: "stamped", time: "2026-01-02T15:04:05Z", level: "info", message: "started" },
  ],
  [
    "/srv/app.log 2026-01-02 03:04:05 INFO started",
    {
      form: "stamped",
      time: "2026-01-02T03:04:05Z",
      level: "info",
      message: "started",
      attributes: { "log.file.name": "/srv/app.log" },
    },
  ],
];
