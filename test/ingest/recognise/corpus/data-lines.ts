import type { LineCase } from "../line-case.ts";

/** Objects, pairs and what containers wrap, by hand, and what they say. */
export const DATA_LINES: readonly LineCase[] = [
  [
    '2016-10-06T00:17:09.669794202Z stdout F {"level":30,"time":1475712000123,"pid":1,"hostname":"web","msg":"hi","name":"shop"}',
    {
      form: "cri pino",
      time: "2016-10-06T00:00:00.123Z",
      level: "info",
      service: "shop",
      host: "web",
      message: "hi",
      attributes: { pid: 1, "log.iostream": "stdout" },
    },
  ],
  [
    "2016-10-06T00:17:09.669794202Z stderr F 2016-10-06 02:17:09,669 ERROR [main] a.b.C: broken",
    {
      form: "cri stamped",
      time: "2016-10-06T00:17:09.669794202Z",
      level: "error",
      message: "broken",
      attributes: { "thread.name": "main", logger: "a.b.C", "log.iostream": "stderr" },
    },
  ],
  [
    "2016-10-06T00:17:09.669794202Z stdout F plain text",
    {
      form: "cri",
      time: "2016-10-06T00:17:09.669794202Z",
      message: "plain text",
      attributes: { "log.iostream": "stdout" },
    },
  ],
  [
    '{"log":"[WARN] slow\\n","stream":"stderr","time":"2026-03-04T10:15:30.123456789Z"}',
    {
      form: "docker levelled",
      time: "2026-03-04T10:15:30.123456789Z",
      level: "warn",
      message: "slow",
      attributes: { "log.iostream": "stderr" },
    },
  ],
  [
    'time=2026-01-02T03:04:05.123Z level=WARN msg="ledger is \\"slow\\"" duration=12 ok=true',
    {
      form: "logfmt",
      time: "2026-01-02T03:04:05.123Z",
      level: "warn",
      message: 'ledger is "slow"',
      attributes: { duration: 12, ok: true },
    },
  ],
  [
    "level=info ts=2026-01-02T03:04:05.123Z caller=main.go:12 msg=started",
    {
      form: "logfmt",
      time: "2026-01-02T03:04:05.123Z",
      level: "info",
      message: "started",
      attributes: { caller: "main.go:12" },
    },
  ],
  [
    "t=2026-01-02T03:04:05+0000 lvl=eror msg=broken id=3",
    {
      form: "logfmt",
      time: "2026-01-02T03:04:05Z",
      level: "error",
      message: "broken",
      attributes: { id: 3 },
    },
  ],
  [
    '{"instant":{"epochSecond":1493121664,"nanoOfSecond":118000000},"thread":"main","level":"INFO","loggerName":"HelloWorld","message":"Hello, world!","endOfBatch":false}',
    {
      form: "json",
      time: "2017-04-25T12:01:04.118Z",
      level: "info",
      message: "Hello, world!",
      attributes: { thread: "main", logger: "HelloWorld", endOfBatch: false },
    },
  ],
  [
    '{"@timestamp":"2017-05-25T19:56:23.370Z","ecs.version":"1.2.0","log.level":"ERROR","message":"Hello, error!","process.thread.name":"main","log.logger":"org.apache.Test"}',
    {
      form: "ecs-logging",
      time: "2017-05-25T19:56:23.37Z",
      level: "error",
      message: "Hello, error!",
      attributes: { "ecs.version": "1.2.0", "process.thread.name": "main", logger: "org.apache.Test" },
    },
  ],
  [
    '{"Timestamp":"2016-06-07T03:44:57.8532799+10:00","Level":"Information","MessageTemplate":"Hello, {@User}","Properties":{"User":{"Name":"nblumhardt"}}}',
    {
      form: "json",
      time: "2016-06-06T17:44:57.8532799Z",
      level: "info",
      message: "Hello, {@User}",
      attributes: { "Properties.User.Name": "nblumhardt" },
    },
  ],
  [
    '{"@t":"2016-06-07T03:44:57.8532799Z","@mt":"Hello, {User}","User":"nblumhardt"}',
    {
      form: "serilog-compact",
      time: "2016-06-07T03:44:57.8532799Z",
      level: "info",
      message: "Hello, {User}",
      attributes: { User: "nblumhardt" },
    },
  ],
  [
    '{"event": "ledger is slow", "level": "warning", "logger": "billing", "timestamp": "2026-03-04T10:15:30.123456Z"}',
    {
      form: "structlog",
      time: "2026-03-04T10:15:30.123456Z",
      level: "warn",
      message: "ledger is slow",
      attributes: { logger: "billing" },
    },
  ],
  [
    '{"asctime": "2026-03-04 10:15:30,123", "levelname": "WARNING", "name": "billing", "message": "slow"}',
    {
      form: "python-json-logger",
      time: "2026-03-04T10:15:30.123Z",
      level: "warn",
      message: "slow",
      attributes: { logger: "billing" },
    },
  ],
  [
    '{"level":"info","ts":1772619330.1234567,"caller":"a/b.go:1","msg":"started"}',
    {
      form: "zap",
      time: "2026-03-04T10:15:30.1234567Z",
      level: "info",
      message: "started",
      attributes: { caller: "a/b.go:1" },
    },
  ],
  [
    '{"time":"2026-03-04T11:15:30.123456789+01:00","level":"ERROR+2","msg":"slow"}',
    { form: "slog", time: "2026-03-04T10:15:30.123456789Z", level: "error", message: "slow" },
  ],
  [
    '{"level":"info","time":"2026-03-04T11:15:30Z","message":"hi"}',
    { form: "zerolog", time: "2026-03-04T11:15:30Z", level: "info", message: "hi" },
  ],
  [
    '{"level":"info","msg":"A walrus","size":10,"time":"2014-03-10 19:57:38.562264131 -0400 EDT"}',
    {
      form: "json",
      level: "info",
      message: "A walrus",
      attributes: { size: 10, time: "2014-03-10 19:57:38.562264131 -0400 EDT" },
    },
  ],
  [
    '{"name":"billing","hostname":"web-1","pid":4711,"level":40,"msg":"slow","time":"2026-03-04T10:15:30.123Z","v":0}',
    {
      form: "bunyan",
      time: "2026-03-04T10:15:30.123Z",
      level: "warn",
      service: "billing",
      host: "web-1",
      message: "slow",
      attributes: { pid: 4711, v: 0 },
    },
  ],
  [
    '{"level":50,"time":1772619330123,"pid":4711,"hostname":"web-1","name":"billing","msg":"x"}',
    {
      form: "pino",
      time: "2026-03-04T10:15:30.123Z",
      level: "error",
      service: "billing",
      host: "web-1",
      message: "x",
      attributes: { pid: 4711 },
    },
  ],
  [
    '{"level":"warn","message":"slow","service":"billing","timestamp":"2026-03-04T10:15:30.123Z"}',
    { form: "winston", time: "2026-03-04T10:15:30.123Z", level: "warn", service: "billing", message: "slow" },
  ],
  [
    '{"__REALTIME_TIMESTAMP":"1772619330739502","PRIORITY":"3","_HOSTNAME":"web-1","SYSLOG_IDENTIFIER":"nginx","MESSAGE":"bind() failed","_PID":"2345"}',
    {
      form: "journald",
      time: "2026-03-04T10:15:30.739502Z",
      level: "error",
      service: "nginx",
      host: "web-1",
      message: "bind() failed",
      attributes: { _PID: "2345" },
    },
  ],
  [
    '{"t":{"$date":"2020-05-01T15:16:17.180+00:00"},"s":"I", "c":"NETWORK", "id":12345, "ctx":"listener", "svc":"R", "msg":"Listening on", "attr":{"address":"127.0.0.1"}}',
    {
      form: "mongodb",
      time: "2020-05-01T15:16:17.18Z",
      level: "info",
      message: "Listening on",
      attributes: {
        logger: "NETWORK",
        "thread.name": "listener",
        address: "127.0.0.1",
        id: 12345,
        svc: "R",
      },
    },
  ],
  [
    '{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1","method":"GET","host":"localhost","uri":"/x"},"duration":0.0009,"size":10900,"status":502}',
    {
      form: "caddy",
      time: "2022-03-09T21:30:01.5241024Z",
      level: "error",
      service: "localhost",
      message: "handled request: GET /x 502",
      attributes: {
        status: 502,
        level: "info",
        logger: "http.log.access",
        msg: "handled request",
        "request.remote_ip": "127.0.0.1",
        "request.method": "GET",
        "request.uri": "/x",
        duration: 0.0009,
        size: 10900,
      },
    },
  ],
  [
    '{"message":"hello","level":"WARNING","ts":"2026-01-02T03:04:05Z","attrs":{"a":1,"b":{"c":2}}}',
    {
      form: "obs",
      time: "2026-01-02T03:04:05Z",
      level: "warn",
      message: "hello",
      attributes: { a: 1, b: { c: 2 } },
    },
  ],
  [
    'Jan  2 03:04:05.678901 web-1 billing[12]: level=warn msg="slow answer" ms=12',
    {
      form: "syslog logfmt",
      time: "2026-01-02T03:04:05.678901Z",
      level: "warn",
      service: "billing",
      host: "web-1",
      message: "slow answer",
      attributes: { ms: 12, "syslog.procid": "12" },
    },
  ],
  [
    '{"log":"{\\"level\\":\\"warn\\",\\"msg\\":\\"slow\\"}\\n","stream":"stdout","time":"2026-03-04T10:15:30.5Z","attrs":{"tag":"shop"}}',
    {
      form: "docker json",
      time: "2026-03-04T10:15:30.5Z",
      level: "warn",
      message: "slow",
      attributes: { "log.iostream": "stdout", "docker.tag": "shop" },
    },
  ],
  [
    '{"level":"info","ts":"2026-03-04T10:15:30Z","logger":"billing","msg":"hi","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7"}',
    {
      form: "json",
      time: "2026-03-04T10:15:30Z",
      level: "info",
      traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
      spanId: "00f067aa0ba902b7",
      message: "hi",
      attributes: { logger: "billing" },
    },
  ],
  [
    '{"timestamp":"2026-03-04 10:15:30,250","level":"CRITICAL","message":"broken"}',
    { form: "json", time: "2026-03-04T10:15:30.25Z", level: "fatal", message: "broken" },
  ],
  ['{"not":"a log"}', { form: "json", message: '{"not":"a log"}', attributes: { not: "a log" } }],
];
