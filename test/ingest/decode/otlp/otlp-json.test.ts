import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { OtlpJsonDecoder } from "../../../../ingest/decode/otlp/otlp-json.ts";
import { type DecodedEntry, decodeEntries, decodeRequest, RECEIVED_AT_MS } from "../decoded-entries.ts";

const format = new OtlpJsonDecoder();
const RECEIVED_AT = BigInt(RECEIVED_AT_MS) * 1_000_000n;

function requestOf(...logRecords: unknown[]): string {
  return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
}

/** The one entry that a record becomes. A text is the record's JSON. */
function entryOf(record: unknown): DecodedEntry {
  const text = typeof record === "string" ? record : JSON.stringify(record);
  const entries = decodeEntries(format, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${text}]}]}]}`);
  const [entry] = entries;
  if (entry === undefined || entries.length !== 1) throw new Error("not one entry");
  return entry;
}

function attributesOf(...attributes: unknown[]): Readonly<Record<string, unknown>> {
  return entryOf({ attributes }).attrs;
}

function attributesOfValue(value: unknown): unknown {
  return attributesOf({ key: "a", value });
}

describe("a request", () => {
  test("is mapped field by field", () =>
    expect(
      decodeEntries(
        format,
        JSON.stringify({
          resourceLogs: [
            {
              resource: {
                attributes: [
                  { key: "service.name", value: { stringValue: "checkout" } },
                  { key: "host.name", value: { stringValue: "node-7" } },
                  { key: "service.version", value: { stringValue: "1.4.2" } },
                  { key: "k", value: { stringValue: "resource" } },
                ],
                droppedAttributesCount: 2,
              },
              schemaUrl: "https://example.com/resource/1.30.0",
              scopeLogs: [
                {
                  scope: {
                    name: "app.payment",
                    version: "2.0",
                    attributes: [
                      { key: "k", value: { stringValue: "scope" } },
                      { key: "team", value: { stringValue: "core" } },
                    ],
                  },
                  schemaUrl: "https://example.com/scope/1.30.0",
                  logRecords: [
                    {
                      timeUnixNano: "1763719200123456789",
                      observedTimeUnixNano: "1763719200123456789",
                      severityNumber: 17,
                      severityText: "ERROR",
                      body: { stringValue: "payment failed" },
                      attributes: [{ key: "k", value: { stringValue: "record" } }],
                      traceId: "5B8EFFF798038103D269B633813FC60C",
                      spanId: "EEE19B7EC3C1B174",
                      flags: 1,
                      eventName: "payment.failed",
                    },
                    { body: { stringValue: "second" } },
                  ],
                },
              ],
            },
          ],
        }),
      ),
    ).toEqual([
      {
        ts: 1763719200123456789n,
        level: "error",
        service: "checkout",
        host: "node-7",
        source: "app.payment",
        message: "payment failed",
        traceId: "5b8efff798038103d269b633813fc60c",
        spanId: "eee19b7ec3c1b174",
        attrs: {
          k: "record",
          "otel.flags": 1,
          "event.name": "payment.failed",
          team: "core",
          "otel.scope.version": "2.0",
          "otel.scope.schema_url": "https://example.com/scope/1.30.0",
          "service.version": "1.4.2",
          "otel.resource.dropped_attributes_count": 2,
          "otel.resource.schema_url": "https://example.com/resource/1.30.0",
        },
      },
      {
        ts: RECEIVED_AT,
        service: "checkout",
        host: "node-7",
        source: "app.payment",
        message: "second",
        attrs: {
          k: "scope",
          team: "core",
          "otel.scope.version": "2.0",
          "otel.scope.schema_url": "https://example.com/scope/1.30.0",
          "service.version": "1.4.2",
          "otel.resource.dropped_attributes_count": 2,
          "otel.resource.schema_url": "https://example.com/resource/1.30.0",
        },
      },
    ]));

  test("of one resource says nothing about the next", () => {
    const attributes = [{ key: "service.name", value: { stringValue: "a" } }];
    const scopeLogs = [{ scope: { name: "s" }, logRecords: [{}] }];
    const body = {
      resourceLogs: [{ resource: { attributes }, scopeLogs }, { scopeLogs: [{ logRecords: [{}] }] }],
    };
    expect(decodeEntries(format, JSON.stringify(body))).toEqual([
      { ts: RECEIVED_AT, message: "", service: "a", source: "s", attrs: {} },
      { ts: RECEIVED_AT, message: "", attrs: {} },
    ]);
  });

  test("takes the first of two names of a service, and keeps the other", () => {
    const attributes = ["a", "b"].map((stringValue) => ({ key: "service.name", value: { stringValue } }));
    const body = { resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords: [{}] }] }] };
    expect(decodeEntries(format, JSON.stringify(body))).toEqual([
      { ts: RECEIVED_AT, message: "", service: "a", attrs: { "service.name": "b" } },
    ]);
  });

  test.each([
    "{}",
    '{"resourceLogs":[]}',
    '{"resourceLogs":null}',
    '{"resourceLogs":[{}]}',
    '{"resourceLogs":[{"scopeLogs":[{"scope":null,"logRecords":null}]}]}',
    '{"resourceSpans":[{"a":[1,{"b":null}]}]}',
    " \ufeff{} ".trim(),
  ])("without records is none: %s", (body) => expect(decodeEntries(format, body)).toEqual([]));

  test.each([
    ["", "the body is empty"],
    ["[", "the body is not valid JSON at byte 1"],
    ["[]", "is not an object"],
    ['{"resourceLogs":[}', "the body is not valid JSON at byte 17"],
    ['{"resourceLogs":[]}}', "the body is not valid JSON at byte 19"],
    ['{"resourceLogs":{}}', "/resourceLogs is not an array"],
    ['{"resourceLogs":[1]}', "/resourceLogs/0 is not an object"],
    [
      '{"resourceLogs":[{"scopeLogs":[{"logRecords":{}}]}]}',
      "/resourceLogs/0/scopeLogs/0/logRecords is not an array",
    ],
    [
      '{"resourceLogs":[{"resource":{"attributes":[{"key":1}]}}]}',
      "/resourceLogs/0/resource/attributes/0/key is not a string",
    ],
    [`${'{"a":'.repeat(600)}1${"}".repeat(600)}`, "the body nests deeper than 512 levels"],
    [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "the body is not UTF-8"],
  ])("that is none is refused as a whole: %#", (body, refusal) =>
    expect(decodeRequest(format, body)).toEqual({ entries: [], rejections: [], refusal }),
  );

  test("with bad records keeps the good ones and names the others", () => {
    const deep = {
      kvlistValue: { values: [{ key: "x" }, { key: "y", value: { arrayValue: { values: [{}, 5] } } }] },
    };
    const { entries, rejections } = decodeRequest(
      format,
      requestOf(
        { body: { stringValue: "good" } },
        "text",
        { attributes: {} },
        { attributes: [{ key: "a" }, 7] },
        { attributes: [{ key: "a", value: deep }] },
        { body: { arrayValue: { values: 1 } } },
        { body: "text" },
        { timeUnixNano: [] },
        { body: { stringValue: { a: 1 } } },
        { body: { stringValue: "also good" } },
      ),
    );
    expect(entries.map(({ message }) => message)).toEqual(["good", "also good"]);
    expect(rejections.map(({ place, reason }) => [place.split("/").at(-1), reason])).toEqual([
      ["1", "the record is not an object"],
      ["2", "attributes is not an array"],
      ["3", "attributes/1 is not an object"],
      ["4", "attributes/0/value/kvlistValue/values/1/value/arrayValue/values/1 is not an object"],
      ["5", "body has values that are no array"],
      ["6", "body is not an object"],
      ["7", "timeUnixNano is not a plain value"],
      ["8", "body is not a plain value"],
    ]);
  });
});

describe("times", () => {
  test.each([
    [{ timeUnixNano: "1763719200123456789" }, 1763719200123456789n, {}],
    ['{"timeUnixNano":1763719200123456789}', 1763719200123456789n, {}],
    ['{"timeUnixNano":1.7637192e18}', 1763719200000000000n, {}],
    [{ timeUnixNano: "0", observedTimeUnixNano: "5" }, 5n, {}],
    [{ timeUnixNano: 0, observedTimeUnixNano: 1_000_000_000 }, 1_000_000_000n, {}],
    [{ observedTimeUnixNano: "1763719200123456789" }, 1763719200123456789n, {}],
    [{ timeUnixNano: null, observedTimeUnixNano: "" }, RECEIVED_AT, {}],
    ['{"timeUnixNano":"7","observedTimeUnixNano":"1000000007"}', 7n, {}],
    [
      '{"timeUnixNano":"7","observedTimeUnixNano":"1000000008"}',
      7n,
      { "otel.observed_time_unix_nano": 1_000_000_008 },
    ],
    [
      '{"timeUnixNano":"1763719200123456789","observedTimeUnixNano":"1763719190123456789"}',
      1763719200123456789n,
      { "otel.observed_time_unix_nano": Number("1763719190123456789") },
    ],
    ['{"timeUnixNano":"7","observedTimeUnixNano":"7"}', 7n, {}],
    [
      '{"timeUnixNano":"18446744073709551615","observedTimeUnixNano":"9"}',
      9n,
      { "otel.time_unix_nano": Number("18446744073709551615") },
    ],
    [{ timeUnixNano: "yesterday" }, RECEIVED_AT, { "otel.time_unix_nano": "yesterday" }],
  ])("case %#", (record, ts, attrs) => expect(entryOf(record)).toEqual({ ts, message: "", attrs }));
});

describe("severities", () => {
  test.each([
    [1, "trace"],
    [5, "debug"],
    [9, "info"],
    [13, "warn"],
    [17, "error"],
    [21, "fatal"],
  ])("%d is %s, with its steps", (first, level) => {
    for (let step = 0; step < 4; step++) {
      const entry = entryOf({ severityNumber: first + step });
      expect(entry.level).toBe(level);
      expect(entry.attrs).toEqual(step === 0 ? {} : { "otel.severity_number": first + step });
    }
  });

  test.each([
    [{ severityNumber: 0, severityText: "Warning" }, "warn", { "otel.severity_text": "Warning" }],
    [{ severityText: "INFO" }, "info", {}],
    [{ severityNumber: "9", severityText: "Info" }, "info", {}],
    [{ severityNumber: 9, severityText: "notice" }, "info", { "otel.severity_text": "notice" }],
    [{ severityNumber: 0, severityText: "" }, undefined, {}],
    [{ severityText: "purple" }, undefined, { "otel.severity_text": "purple" }],
    [{ severityNumber: 25 }, undefined, { "otel.severity_number": 25 }],
    [
      { severityNumber: "SEVERITY_NUMBER_WARN", severityText: "WARN" },
      "warn",
      { "otel.severity_number": "SEVERITY_NUMBER_WARN" },
    ],
  ])("case %#", (record, level, attrs) => {
    const entry = entryOf(record);
    expect(entry.level).toBe(level);
    expect(entry.attrs).toEqual(attrs);
  });
});

describe("ids", () => {
  test.each([
    [{ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "B7AD6B7169203331" }, {}],
    [{ traceId: "0AF7651916CD43DD8448EB211C80319C", spanId: "b7ad6b7169203331" }, {}],
  ])("are hexadecimal in either case", (record, attrs) =>
    expect(entryOf(record)).toEqual({
      ts: RECEIVED_AT,
      message: "",
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      attrs,
    }),
  );

  test.each([
    [{ traceId: "", spanId: "" }, {}],
    [{ traceId: "0".repeat(32), spanId: "0".repeat(16) }, {}],
    [{ traceId: "W47/95gDgQPSabYzgT/GDA==" }, { "otel.trace_id": "W47/95gDgQPSabYzgT/GDA==" }],
    [{ spanId: "g".repeat(16) }, { "otel.span_id": "g".repeat(16) }],
    [{ traceId: "ab" }, { "otel.trace_id": "ab" }],
  ])("that are none are no ids: %#", (record, attrs) =>
    expect(entryOf(record)).toEqual({ ts: RECEIVED_AT, message: "", attrs }),
  );
});

describe("values", () => {
  test.each([
    [{ stringValue: "x" }, { a: "x" }],
    [{ stringValue: "" }, { a: "" }],
    [{ boolValue: false }, { a: false }],
    [{ intValue: "-9223372036854775808" }, { a: Number("-9223372036854775808") }],
    [{ intValue: 12 }, { a: 12 }],
    [{ doubleValue: 1.5 }, { a: 1.5 }],
    [{ doubleValue: "NaN" }, { a: "NaN" }],
    [{ doubleValue: "-Infinity" }, { a: "-Infinity" }],
    [{ doubleValue: "2.5e3" }, { a: 2500 }],
    [{ intValue: "many" }, { a: "many" }],
    [{ bytesValue: "aGVsbG8=" }, { a: "aGVsbG8=" }],
    [{}, { a: null }],
    [null, { a: null }],
    [undefined, { a: null }],
    [{ unknownValue: 1 }, { a: null }],
    [{ stringValue: null, intValue: "3" }, { a: 3 }],
    [{ arrayValue: {} }, { a: [] }],
    [
      { arrayValue: { values: [{ intValue: "1" }, {}, { stringValue: '"\\\n' }] } },
      { a: [1, null, '"\\\n'] },
    ],
    [{ kvlistValue: {} }, { a: {} }],
    [{ kvlistValue: { values: [] } }, { a: {} }],
    [
      {
        kvlistValue: {
          values: [
            { key: "b", value: { kvlistValue: { values: [{ key: "c", value: { intValue: "1" } }] } } },
            { key: "d" },
          ],
        },
      },
      { "a.b.c": 1, "a.d": null },
    ],
    [
      { arrayValue: { values: [{ kvlistValue: { values: [{ key: "x", value: { boolValue: true } }] } }] } },
      { a: [{ x: true }] },
    ],
  ])("case %#", (value, attrs) => expect(attributesOfValue(value)).toEqual(attrs));

  test("keep every digit", () => {
    const entry = entryOf(
      '{"body":{"arrayValue":{"values":[{"intValue":9007199254740993},{"intValue":"9223372036854775807"}]}}}',
    );
    expect(entry.message).toBe("[9007199254740993,9223372036854775807]");
  });

  test("under a name given twice the first stays, and no name is the empty one", () =>
    expect(
      attributesOf(
        { key: "a", value: { intValue: 1 } },
        { key: "a", value: { intValue: 2 } },
        { value: { intValue: 3 } },
      ),
    ).toEqual({ a: 1, "": 3 }));

  test("nested beyond what readers of JSON take are texts", () => {
    let value: unknown = { intValue: "1" };
    for (let i = 0; i < 40; i++) value = { arrayValue: { values: [value] } };
    expect(attributesOfValue(value)).toEqual({ a: `${"[".repeat(40)}1${"]".repeat(40)}` });
  });

  test("too long or too many are cut, counted and marked", () => {
    const long = { key: "long", value: { stringValue: "é".repeat(40_000) } };
    const many = Array.from({ length: 300 }, (_, i) => ({ key: `k${i}`, value: { intValue: i } }));
    const attrs = attributesOf(long, ...many);
    expect(attrs.long).toBe("é".repeat(32_768));
    expect(attrs._truncated).toBe(true);
    expect(attrs._dropped_attributes).toBe(300 + 1 - 254);
    expect(Object.keys(attrs).length).toBe(256);
  });
});

describe("bodies", () => {
  const member = (key: string, value: unknown): unknown => ({ key, value });

  test.each([
    [{ stringValue: "text" }, "text", {}],
    [{ intValue: "12345678901234567" }, "12345678901234567", {}],
    [{ boolValue: true }, "true", {}],
    [{ bytesValue: "AAE=" }, "AAE=", {}],
    [{}, "", {}],
    [{ arrayValue: { values: [{ stringValue: "a" }, { intValue: 1 }] } }, '["a",1]', {}],
    [{ kvlistValue: {} }, "{}", {}],
    [
      {
        kvlistValue: {
          values: [
            member("msg", { stringValue: "m" }),
            member("message", { stringValue: "best" }),
            member("n", { intValue: 1 }),
          ],
        },
      },
      "best",
      { "body.msg": "m", "body.n": 1 },
    ],
    [
      {
        kvlistValue: {
          values: [
            member("message", { stringValue: "" }),
            member("a", { kvlistValue: { values: [member("b", {})] } }),
          ],
        },
      },
      '{"message":"","a":{"b":null}}',
      { "body.message": "", "body.a.b": null },
    ],
    // A member without a value after the message was taken for the message once.
    [
      { kvlistValue: { values: [member("message", { stringValue: "m" }), member("a", {})] } },
      "m",
      { "body.a": null },
    ],
  ])("case %#", (body, message, attrs) => {
    expect(entryOf({ body })).toEqual({ ts: RECEIVED_AT, message, attrs });
  });

  test("that are missing leave the event's name as the message", () => {
    const named = { ts: RECEIVED_AT, message: "user.login", attrs: { "event.name": "user.login" } };
    expect(entryOf({ eventName: "user.login" })).toEqual(named);
    expect(entryOf({ eventName: "user.login", body: { stringValue: "" } })).toEqual(named);
  });

  test("longer than a message are cut, and a structured one is whole in the attributes", () => {
    expect(entryOf({ body: { stringValue: "x".repeat(9000) } })).toEqual({
      ts: RECEIVED_AT,
      message: "x".repeat(8192),
      attrs: { _truncated: true },
    });
    const list = { kvlistValue: { values: [member("message", { stringValue: "y".repeat(9000) })] } };
    expect(entryOf({ body: list })).toEqual({
      ts: RECEIVED_AT,
      message: "y".repeat(8192),
      attrs: { "body.message": "y".repeat(9000), _truncated: true },
    });
    const array = { arrayValue: { values: [{ stringValue: "z".repeat(9000) }] } };
    expect(entryOf({ body: array }).attrs).toEqual({ body: ["z".repeat(9000)], _truncated: true });
  });
});

test("what a resource repeats in every record is bounded", () => {
  const attributes = Array.from({ length: 200 }, (_, i) => ({
    key: `k${i}`,
    value: { stringValue: "v".repeat(1000) },
  }));
  const logRecords = Array.from({ length: 2000 }, () => ({}));
  const body = { resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] };
  expect(decodeRequest(format, JSON.stringify(body)).refusal).toContain("24 MiB");
});

test("the decoder forgets a large body and an odd one", () => {
  decodeRequest(format, requestOf(...Array.from({ length: 60_000 }, () => ({ body: {} }))));
  decodeRequest(format, '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":');
  expect(entryOf({ body: { stringValue: "m" } })).toEqual({ ts: RECEIVED_AT, message: "m", attrs: {} });
});

const REAL = join(import.meta.dir, "../../../../../shared/data/payloads/otlp-logs.json");
test.skipIf(!existsSync(REAL))("the protocol's own example is read", () =>
  expect(decodeEntries(format, readFileSync(REAL))).toEqual([
    {
      ts: 1544712660300000000n,
      level: "info",
      service: "my.service",
      source: "my.library",
      message: "Example log record",
      traceId: "5b8efff798038103d269b633813fc60c",
      spanId: "eee19b7ec3c1b174",
      attrs: {
        "string.attribute": "some string",
        "boolean.attribute": true,
        "int.attribute": 10,
        "double.attribute": 637.704,
        "array.attribute": ["many", "values"],
        "map.attribute.some.map.key": "some value",
        "otel.severity_text": "Information",
        "my.scope.attribute": "some scope attribute",
        "otel.scope.version": "1.0.0",
      },
    },
  ]),
);
