import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LokiPush } from "../../../../ingest/decode/loki-push/loki-push.ts";
import { anyText } from "../../log-entry-arbitrary.ts";
import { decodeEntries, decodeRequest, RECEIVED_AT_MS } from "../decoded-entries.ts";

const loki = new LokiPush();
const push = (...streams: readonly unknown[]): string => JSON.stringify({ streams });
const NS = "1769903998123456789";

describe("a line", () => {
  test("is the message, or taken apart, at its nanosecond, with its labels and metadata", () =>
    expect(
      decodeEntries(
        loki,
        push({
          stream: { service_name: "orders", app: "shop", host: "node-1", level: "warn", env: "prod" },
          values: [
            [
              NS,
              '{"level":"error","msg":"json é"}',
              { trace_id: "0af7651916cd43dd8448eb211c80319c", user: "u" },
            ],
            ["1769903998123456790", "level=info logfmt", {}],
            ["1769903998123456791", ""],
          ],
        }),
      ),
    ).toEqual([
      {
        ts: 1769903998123456789n,
        message: "json é",
        level: "error",
        service: "orders",
        host: "node-1",
        traceId: "0af7651916cd43dd8448eb211c80319c",
        attrs: { user: "u", app: "shop", env: "prod" },
      },
      {
        ts: 1769903998123456790n,
        message: "level=info logfmt",
        level: "warn",
        service: "orders",
        host: "node-1",
        attrs: { app: "shop", env: "prod" },
      },
      {
        ts: 1769903998123456791n,
        message: "",
        level: "warn",
        service: "orders",
        host: "node-1",
        attrs: { app: "shop", env: "prod" },
      },
    ]));

  test.each([
    [
      { job: "varlogs", instance: "node-2" },
      { service: "varlogs", host: "node-2", attrs: {} },
    ],
    [
      { container: "db", detected_level: "error" },
      { service: "db", level: "error", attrs: {} },
    ],
    [
      { level: "unknown", severity: "FATAL" },
      { level: "fatal", attrs: { level: "unknown" } },
    ],
    [
      { service_name: "", app: "a" },
      { service: "a", attrs: { service_name: "" } },
    ],
    [{ level: 3, host: 4 }, { attrs: { level: 3, host: 4 } }],
    [{ __proto__x: "p", constructor: "c" }, { attrs: { __proto__x: "p", constructor: "c" } }],
  ])("has what its labels %j say", (stream, expected) =>
    expect(decodeEntries(loki, push({ stream, values: [[NS, "m"]] }))).toEqual([
      { ts: 1769903998123456789n, message: "m", ...expected },
    ]),
  );

  test("has what its metadata says where the labels say nothing", () =>
    expect(
      decodeEntries(
        loki,
        push({ stream: { app: "a" }, values: [[NS, "m", { level: "error", service_name: "b" }]] }),
      ),
    ).toMatchObject([{ service: "a", level: "error", attrs: { service_name: "b" } }]));

  test("keeps a time given as a number to the nanosecond", () =>
    expect(decodeEntries(loki, `{"streams":[{"values":[[${NS},"m"]]}]}`)).toMatchObject([
      { ts: 1769903998123456789n },
    ]));

  test("of a time that the store cannot hold arrives at the time of receipt and keeps that time", () =>
    expect(decodeEntries(loki, push({ stream: {}, values: [["0", "m"]] }))).toEqual([
      { ts: BigInt(RECEIVED_AT_MS) * 1_000_000n, message: "m", attrs: { timestamp: "0" } },
    ]));
});

describe("what cannot be read is rejected by itself, as a push request of its own", () => {
  test("a line", () => {
    const stream = { app: "a" };
    const bad = [
      [NS],
      ["yesterday", "m"],
      [NS, 7],
      "text",
      [NS, "m", []],
      [null, "m"],
      ["-1", "m"],
      ["1.5", "m"],
    ];
    const { entries, rejections } = decodeRequest(loki, push({ stream, values: [[NS, "good"], ...bad] }));
    expect(entries).toMatchObject([{ message: "good" }]);
    expect(rejections.map(({ place, raw }) => [place, raw])).toEqual(
      bad.map((value, i) => [`/streams/0/values/${i + 1}`, push({ stream, values: [value] })]),
    );
  });

  test("a stream", () => {
    const bad = [
      null,
      7,
      {},
      { stream: "a", values: [] },
      { stream: {}, values: {} },
      { stream: [], values: [] },
    ];
    const { entries, rejections } = decodeRequest(loki, push(...bad, { values: [[NS, "good"]] }));
    expect(entries).toMatchObject([{ message: "good" }]);
    expect(rejections.map(({ place, raw }) => [place, raw])).toEqual(
      bad.map((stream, i) => [`/streams/${i}`, push(stream)]),
    );
  });
});

describe("the request is refused", () => {
  test.each(["", "null", "[]", "{}", '{"streams":{}}', '{"streams":[', "{}{}", '{"stream":[]}'])(
    "%j",
    (body) => expect(decodeRequest(loki, body)).toMatchObject({ entries: [], refusal: expect.any(String) }),
  );

  test("when its few lines stand under so many labels that they would fill the memory", () => {
    const stream = { label: "x".repeat(1_000_000) };
    const values = Array.from({ length: 100 }, () => [NS, ""]);
    expect(decodeRequest(loki, push({ stream, values })).refusal).toContain("labels");
    expect(decodeRequest(loki, push({ stream, values: values.slice(0, 50) })).entries).toHaveLength(50);
  });

  test("but not when it is empty", () => expect(decodeEntries(loki, '{"streams":[]}')).toEqual([]));
});

test("any labels and lines give the same entries, whatever is left out because it is stored already", () => {
  const label = fc.constantFrom("env", "region", "pod", "ns");
  const stream = fc.record({
    stream: fc.dictionary(label, anyText(8)),
    values: fc.array(fc.tuple(fc.bigInt({ min: 1n, max: 2n ** 63n - 10n ** 18n }), anyText(20)), {
      maxLength: 4,
    }),
  });
  fc.assert(
    fc.property(
      fc.array(stream, { maxLength: 3 }),
      fc.array(fc.nat({ max: 8 }), { maxLength: 3 }),
      (streams, skip) => {
        const expected = streams.flatMap(({ stream: attrs, values }) =>
          values.map(([ts, message]) => ({ ts, message, attrs: { ...attrs } })),
        );
        const body = push(
          ...streams.map((one) => ({ ...one, values: one.values.map(([ts, line]) => [String(ts), line]) })),
        );
        const { entries } = decodeRequest(loki, body, new Set(skip));
        expect(entries).toEqual(expected.filter((_, position) => !skip.includes(position)));
      },
    ),
    { numRuns: 200 },
  );
});
