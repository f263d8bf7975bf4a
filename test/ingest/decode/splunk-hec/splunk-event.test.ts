import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SplunkEvents } from "../../../../ingest/decode/splunk-hec/splunk-event.ts";
import { anyText } from "../../log-entry-arbitrary.ts";
import { decodeEntries, decodeRequest, RECEIVED_AT_MS } from "../decoded-entries.ts";

const hec = new SplunkEvents();
const RECEIVED_AT = BigInt(RECEIVED_AT_MS) * 1_000_000n;

describe("an event", () => {
  test("that is a text is the message", () =>
    expect(
      decodeEntries(
        hec,
        '{"time":1769903998.123456789,"host":"node-1","source":"/var/log/app","sourcetype":"app","index":"main","event":"started é","fields":{"env":"prod","severity":"warn","trace_id":"0af7651916cd43dd8448eb211c80319c"}}',
      ),
    ).toEqual([
      {
        ts: 1769903998123456789n,
        message: "started é",
        level: "warn",
        host: "node-1",
        source: "/var/log/app",
        traceId: "0af7651916cd43dd8448eb211c80319c",
        attrs: { sourcetype: "app", index: "main", env: "prod" },
      },
    ]));

  test("that is an object is a JSON log; the envelope wins, and nothing is lost", () =>
    expect(
      decodeEntries(
        hec,
        JSON.stringify({
          time: "1769903998",
          host: "node-1",
          event: {
            message: "m",
            level: "error",
            time: "2020-01-01T00:00:00Z",
            host: "inner",
            user: { id: 7 },
          },
          fields: { service: "orders", level: "info" },
        }),
      ),
    ).toEqual([
      {
        ts: 1769903998000000000n,
        message: "m",
        level: "error",
        service: "orders",
        host: "node-1",
        attrs: { time: "2020-01-01T00:00:00Z", host: "inner", "user.id": 7, level: "info" },
      },
    ]));

  test.each([
    [
      '{"event":{"message":{"msg":"m","id":7},"severity":"error"}}',
      { message: "m", level: "error", attrs: { id: 7 } },
    ],
    [
      '{"event":{"message":"{\\"msg\\":\\"m\\",\\"level\\":\\"warn\\"}","severity":"info"}}',
      { message: "m", level: "warn", attrs: { severity: "info" } },
    ],
    ['{"event":"{\\"msg\\":\\"m\\",\\"level\\":\\"warn\\"}"}', { message: "m", level: "warn", attrs: {} }],
    ['{"event":{"message":{},"severity":"info"}}', { message: "{}", level: "info", attrs: {} }],
    ['{"event":"{not json}"}', { message: "{not json}", attrs: {} }],
  ])("is taken apart where what was logged is within: %s", (body, expected) =>
    expect(decodeEntries(hec, body)).toEqual([{ ts: RECEIVED_AT, ...expected }]),
  );

  test("of an object without a message has the object's JSON as the message", () =>
    expect(decodeEntries(hec, '{"event":{"action":"login"},"fields":{"a":1}}')).toEqual([
      { ts: RECEIVED_AT, message: '{"action":"login"}', attrs: { action: "login", a: 1 } },
    ]));

  test.each([
    ["7", "7"],
    ["false", "false"],
    ["[1,2]", "[1,2]"],
    ["12345678901234567890", "12345678901234567890"],
  ])("that is %s is its JSON text", (event, message) =>
    expect(decodeEntries(hec, `{"event":${event}}`)).toMatchObject([{ message }]),
  );

  test.each([
    [{ time: "soon" }, { time: "soon" }],
    [{ time: 3 }, { time: 3 }],
    [
      { host: 7, source: [] },
      { host: 7, source: [] },
    ],
    [{ extra: { a: 1 } }, { extra: { a: 1 } }],
    [{ time: null, host: null, source: null, host2: null }, { host2: null }],
  ])("keeps what its envelope says in another way: %j", (envelope, attrs) =>
    expect(decodeEntries(hec, JSON.stringify({ ...envelope, event: "m" }))).toEqual([
      { ts: RECEIVED_AT, message: "m", attrs },
    ]),
  );

  test("has its time in milliseconds too", () =>
    expect(decodeEntries(hec, '{"time":1769903998123,"event":"m"}')).toMatchObject([
      { ts: 1769903998123000000n },
    ]));
});

describe("several events", () => {
  const separator = fc.constantFrom("", " ", "\n", "\r\n", "\n\n\t", ",", " , ");
  const event = fc.record({
    event: anyText(20, 1),
    fields: fc.dictionary(fc.constantFrom("a", "b"), anyText(6)),
  });

  test("are told apart whatever stands between them, in an array or not, on one line or many", () =>
    fc.assert(
      fc.property(
        fc.array(fc.tuple(event, separator, fc.constantFrom(undefined, 2)), { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (events, isArray) => {
          const texts = events.map(([one, between, indent]) => JSON.stringify(one, null, indent) + between);
          const body = isArray ? `[${events.map(([one]) => JSON.stringify(one)).join(",")}]` : texts.join("");
          expect(decodeEntries(hec, body)).toMatchObject(
            events.map(([one]) => ({ message: one.event, attrs: { ...one.fields } })),
          );
        },
      ),
      { numRuns: 300 },
    ));

  test("are read although one between them is not valid, which is rejected at its position", () => {
    const { entries, rejections } = decodeRequest(
      hec,
      '{"event":"a"}{"event":}{"noevent":1}\n{"event":""}{"event":null}{"event":"b","fields":[]}\njunk\n{"event":"c"}',
    );
    expect(entries.map(({ message }) => message)).toEqual(["a", "c"]);
    expect(rejections).toEqual([
      { place: "/1", reason: "is not valid JSON", raw: '{"event":}' },
      { place: "/2", reason: "the event is missing", raw: '{"noevent":1}' },
      { place: "/3", reason: "the event is blank", raw: '{"event":""}' },
      { place: "/4", reason: "the event is missing", raw: '{"event":null}' },
      { place: "/5", reason: "`fields` is no object", raw: '{"event":"b","fields":[]}' },
      { place: "/6", reason: "is no JSON object", raw: "junk" },
    ]);
  });

  test.each([
    ['{"event":"a"}\n{"event":"lost\n{"event":"c"}\n{"event":"d"}', ["a", "c", "d"], ['{"event":"lost']],
    ['{"event":"a"}\n{"event":{"x":1}\n{"event":"c"}', ["a", "c"], ['{"event":{"x":1}']],
    ['{"event":"a"}{"event":"cut', ["a"], ['{"event":"cut']],
    ['{"event":"a"}}{"event":"b"}\n{"event":"c"}', ["a", "c"], ['}{"event":"b"}']],
  ])("are found again behind one that does not end: %j", (body, messages, lost) => {
    const { entries, rejections } = decodeRequest(hec, body);
    expect(entries.map(({ message }) => message)).toEqual(messages);
    expect(rejections.map(({ raw }) => raw)).toEqual(lost);
  });
});

test.each([
  '{"line":{"level":"warn","msg":"slow","order":17},"source":"stderr","tag":"0123"}',
  '{"line":"{\\"level\\":\\"warn\\",\\"msg\\":\\"slow\\",\\"order\\":17}","source":"stderr","tag":"0123"}',
])("what Docker's driver puts into `line` is taken apart: %s", (event) =>
  expect(decodeRequest(hec, `{"event":${event}}`).entries).toMatchObject([
    { level: "warn", message: "slow", source: "stderr", attrs: { tag: "0123", order: 17 } },
  ]),
);

describe("a body without any event is refused", () => {
  test.each([
    "",
    " \n",
    "[]",
    "7",
    '"text"',
    "null",
    "{}",
    "{",
    "[[[",
    '{"event":',
    '{"event":""}',
    "}{",
    "\ufeff",
  ])("%j", (body) =>
    expect(decodeRequest(hec, body)).toMatchObject({
      entries: [],
      rejections: [],
      refusal: expect.any(String),
    }),
  );

  test("and so is one that is not UTF-8", () =>
    expect(decodeRequest(hec, new Uint8Array([0x7b, 0xff, 0x7d])).refusal).toBe("the body is not UTF-8"));

  // What is quadratic takes minutes, which the time limit of a test ends.
  test.each(["{\n", '{"', '"{\n', "{}", "[{", '{"a\\', "\n{"])("and so is one of nothing but %p", (part) => {
    const { entries, refusal } = decodeRequest(hec, part.repeat(90_000));
    expect([entries, refusal]).toEqual([[], expect.any(String)]);
  });
});
