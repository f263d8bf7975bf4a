import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isJsonObject, parseJson } from "../../../ingest/decode/json-body.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";
import { writeJsonRecord } from "../../../ingest/record/json-record.ts";
import type { RecordField } from "../../../ingest/record/json-record-keys.ts";
import { RecordWriter } from "../../../ingest/record/record-writer.ts";
import { type DecodedEntry, entriesOf, RECEIVED_AT_MS } from "../decode/decoded-entries.ts";

const RECEIVED_AT = BigInt(RECEIVED_AT_MS) * 1_000_000n;
const AT = BigInt(Date.UTC(2026, 0, 31, 23, 59, 58, 123)) * 1_000_000n;

/** The entry that a JSON text becomes. */
function entryOf(record: unknown, given: readonly RecordField[] = []): DecodedEntry | undefined {
  const text = typeof record === "string" ? record : JSON.stringify(record);
  const object = parseJson(text, 32);
  if (!isJsonObject(object)) throw new Error("no object");
  const writer = new RecordWriter();
  const batch = new LogBatch();
  batch.beginRequest(1, RECEIVED_AT_MS);
  writer.open(batch, new Set());
  writer.begin();
  writeJsonRecord(writer, object, new Set(given));
  writer.end();
  batch.keepRequest();
  return entriesOf(batch)[0];
}

describe("a log object of", () => {
  test("ECS", () =>
    expect(
      entryOf({
        "@timestamp": "2026-01-31T23:59:58.123Z",
        log: { level: "WARN", logger: "net.Pool" },
        message: "pool is empty",
        service: { name: "orders", version: "1.2" },
        host: { name: "node-1", ip: ["192.0.2.7"] },
        trace: { id: "0AF7651916CD43DD8448EB211C80319C" },
        span: { id: "b7ad6b7169203331" },
        event: { original: "WARN pool is empty" },
      }),
    ).toEqual({
      ts: AT,
      level: "warn",
      message: "pool is empty",
      service: "orders",
      host: "node-1",
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      attrs: {
        logger: "net.Pool",
        "service.version": "1.2",
        "host.ip": ["192.0.2.7"],
        "event.original": "WARN pool is empty",
      },
    }));

  test("ECS with dotted keys", () =>
    expect(
      entryOf({ "log.level": "error", "service.name": "a", "host.name": "h", message: "m" }),
    ).toMatchObject({
      level: "error",
      service: "a",
      host: "h",
      attrs: {},
    }));

  test("pino", () =>
    expect(
      entryOf('{"level":50,"time":1769903998123,"pid":7,"hostname":"node-1","reqId":17,"msg":"no"}'),
    ).toEqual({
      ts: AT,
      level: "error",
      message: "no",
      host: "node-1",
      attrs: { pid: 7, reqId: 17 },
    }));

  test("bunyan and pino, whose name is the program", () =>
    expect(entryOf({ name: "orders", pid: 7, hostname: "node-1", level: 50, msg: "no" })).toMatchObject({
      service: "orders",
      attrs: { pid: 7 },
    }));

  test.each([
    { name: "orders.store", levelname: "INFO" },
    { name: "worker", pid: 7, hostname: "node-1" },
    { name: "orders", service: "shop", pid: 7, hostname: "node-1", level: 30 },
  ])("any other logger, whose name may be anything: %j", (record) =>
    expect(entryOf({ ...record, msg: "m" })).toMatchObject({ attrs: { name: record.name } }),
  );

  test.each(["logger", "log.logger", "logger_name", "loggerName", "SourceContext"])(
    "any logger says which of the program's parts logged: %s is the attribute logger and no service",
    (key) =>
      expect(entryOf({ [key]: "net.Pool", msg: "m" })).toEqual({
        ts: RECEIVED_AT,
        message: "m",
        attrs: { logger: "net.Pool" },
      }),
  );

  test("zap and logrus, with seconds as a fraction", () =>
    expect(entryOf('{"level":"info","ts":1769903998.123,"logger":"http","msg":"m"}')).toEqual({
      ts: AT,
      level: "info",
      message: "m",
      attrs: { logger: "http" },
    }));

  test("Python's logging, whose time has a comma and no offset", () =>
    expect(
      entryOf({
        asctime: "x",
        timestamp: "2026-01-31 23:59:58,123",
        levelname: "CRITICAL",
        levelno: 50,
        message: "m",
      }),
    ).toEqual({ ts: AT, level: "fatal", message: "m", attrs: { asctime: "x", levelno: 50 } }));

  test("Python's logging by number only", () =>
    expect(entryOf({ levelno: 30, message: "m" })).toMatchObject({ level: "warn" }));

  test("Serilog's compact form", () =>
    expect(
      entryOf({ "@t": "2026-01-31T23:59:58.123Z", "@l": "Warning", "@m": "m 1", "@mt": "m {n}", n: 1 }),
    ).toEqual({
      ts: AT,
      level: "warn",
      message: "m 1",
      attrs: { "@mt": "m {n}", n: 1 },
    }));

  test("GELF, whose level is syslog's", () =>
    expect(
      entryOf({
        version: "1.1",
        host: "h",
        short_message: "m",
        timestamp: 1769903998.123,
        level: 4,
        _user: "u",
      }),
    ).toEqual({ ts: AT, level: "warn", host: "h", message: "m", attrs: { version: "1.1", _user: "u" } }));

  test("journald", () =>
    expect(
      entryOf({
        __REALTIME_TIMESTAMP: "1769903998123000",
        PRIORITY: "3",
        MESSAGE: "m",
        _HOSTNAME: "h",
        SYSLOG_IDENTIFIER: "sshd",
      }),
    ).toEqual({ ts: AT, level: "error", message: "m", host: "h", service: "sshd", attrs: {} }));

  test("Docker, whose line ends with its line feed", () =>
    expect(entryOf({ log: "line é\n", stream: "stderr", time: "2026-01-31T23:59:58.123Z" })).toEqual({
      ts: AT,
      message: "line é",
      attrs: { stream: "stderr" },
    }));

  test("a cloud", () =>
    expect(entryOf({ severity: "NOTICE", timestamp: "2026-01-31T23:59:58.123Z", textPayload: "m" })).toEqual({
      ts: AT,
      level: "info",
      message: "m",
      attrs: {},
    }));
});

describe("what does not say its field stays an attribute under its own name", () => {
  test.each([
    [{ time: "yesterday" }, { time: "yesterday" }],
    [{ time: 12 }, { time: 12 }],
    [{ time: 0.25 }, { time: 0.25 }],
    [{ time: null }, { time: null }],
    [{ timestamp: [1769903998] }, { timestamp: [1769903998] }],
    [{ level: 3 }, { level: 3 }],
    [{ level: 35 }, { level: 35 }],
    [{ severity: 30 }, { severity: 30 }],
    [{ severity: "lawful" }, { severity: "lawful" }],
    [{ level: true }, { level: true }],
    [{ level: { name: "info" } }, { "level.name": "info" }],
    [{ service: 7 }, { service: 7 }],
    [{ service: "" }, { service: "" }],
    [{ host: ["a"] }, { host: ["a"] }],
    [
      { trace_id: "1-581cf771-a006649127e371903a2de979" },
      { trace_id: "1-581cf771-a006649127e371903a2de979" },
    ],
    [{ span_id: "xyz" }, { span_id: "xyz" }],
    [{ event_id: "4624" }, { event_id: "4624" }],
    [{ log: { file: { path: "/a" } } }, { "log.file.path": "/a" }],
    [{ host: {} }, { host: {} }],
  ])("%j", (fields, attrs) =>
    expect(entryOf({ message: "m", ...fields })).toEqual({ ts: RECEIVED_AT, message: "m", attrs }),
  );

  test("also when another key says it, which is then taken", () =>
    expect(
      entryOf({ time: "never", "@timestamp": "2026-01-31T23:59:58.123Z", level: 400, level_name: "ERROR" }),
    ).toEqual({
      ts: AT,
      level: "error",
      message: expect.stringContaining("never"),
      attrs: { time: "never", level: 400 },
    }));

  test("and so do the keys of fields that the caller gave", () =>
    expect(entryOf({ message: "m", source: "s", host: { name: "h" } }, ["source", "host"])).toEqual({
      ts: RECEIVED_AT,
      message: "m",
      attrs: { source: "s", "host.name": "h" },
    }));
});

test("of several keys for one field the best is taken, whatever their order, and the others are attributes", () => {
  expect(entryOf({ msg: "second", message: "first" })).toMatchObject({
    message: "first",
    attrs: { msg: "second" },
  });
  expect(entryOf({ host: "shop.example.com", hostname: "node-1" })).toMatchObject({
    host: "node-1",
    attrs: { host: "shop.example.com" },
  });
});

test("keys are found in any case", () =>
  expect(
    entryOf({ Message: "m", LEVEL: "Error", HostName: "h", Timestamp: "2026-01-31T23:59:58.123Z" }),
  ).toEqual({
    ts: AT,
    level: "error",
    message: "m",
    host: "h",
    attrs: {},
  }));

describe("an object without a message", () => {
  test("has its compact JSON as the message, digits included", () =>
    expect(entryOf('{ "user" : "u", "id" : 12345678901234567890 }')).toMatchObject({
      message: '{"user":"u","id":12345678901234567890}',
    }));

  test("of nothing at all is kept", () =>
    expect(entryOf({})).toEqual({ ts: RECEIVED_AT, message: "{}", attrs: {} }));

  test.each([[{ message: "" }], [{ message: null }], [{ message: { text: "m" } }]])(
    "nor one in %j",
    (record) => expect(entryOf(record)?.message).toBe(JSON.stringify(record)),
  );
});

test("names of an object's own prototype are only names", () =>
  expect(entryOf('{"message":"m","__proto__":{"level":"info"},"constructor":"c","toString":1}')).toEqual({
    ts: RECEIVED_AT,
    message: "m",
    attrs: { "__proto__.level": "info", constructor: "c", toString: 1 },
  }));

test("nothing of any object is lost: every scalar is in a field or an attribute", () => {
  const key = fc.oneof(
    fc.constantFrom("message", "level", "time", "host", "service", "log", "trace_id", "source", "event", "a"),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).filter((text) => !text.includes(".")),
  );
  const scalar = fc.oneof(
    fc.string({ minLength: 1, maxLength: 8 }),
    fc.integer({ max: 99_999_999 }),
    fc.boolean(),
    fc.constant("error"),
  );
  const record = fc.dictionary(
    key,
    fc.oneof(scalar, fc.dictionary(key, scalar, { minKeys: 1, maxKeys: 3 })),
    {
      maxKeys: 6,
    },
  );
  fc.assert(
    fc.property(record, (object) => {
      const entry = entryOf(object);
      const { attrs = {}, ...fields } = entry ?? {};
      const held = new Set([...Object.values(attrs), ...Object.values(fields)].map((value) => String(value)));
      for (const value of Object.values(object).flatMap((one) =>
        typeof one === "object" ? Object.values(one) : [one],
      )) {
        const isLevel = typeof value === "string" && entry?.level !== undefined;
        if (!isLevel) expect(held).toContain(String(value).replace(/\r?\n$/, ""));
      }
    }),
    { numRuns: 300 },
  );
});
