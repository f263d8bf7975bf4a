import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { IngestRejectedError } from "../../../ingest/errors.ts";
import { REQUEST_MAX_RECORDS } from "../../../ingest/limits.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";
import { RecordWriter } from "../../../ingest/record/record-writer.ts";
import { type DecodedEntry, entriesOf, RECEIVED_AT_MS } from "../decode/decoded-entries.ts";

type Write = (writer: RecordWriter) => void;

/** The entries that records become. */
function entries(records: readonly Write[], skip: readonly number[] = []): DecodedEntry[] {
  const batch = new LogBatch();
  const writer = new RecordWriter();
  batch.beginRequest(1, RECEIVED_AT_MS);
  writer.open(batch, new Set(skip));
  for (const write of records) {
    writer.begin();
    write(writer);
    writer.end();
  }
  batch.keepRequest();
  return entriesOf(batch);
}

function entry(write: Write): DecodedEntry | undefined {
  return entries([write])[0];
}

const RECEIVED_AT_NS = BigInt(RECEIVED_AT_MS) * 1_000_000n;

describe("an entry", () => {
  test("of nothing has the time of receipt and an empty message", () =>
    expect(entry(() => undefined)).toEqual({ ts: RECEIVED_AT_NS, message: "", attrs: {} }));

  test("holds every field", () =>
    expect(
      entry((writer) => {
        writer.message("disk full");
        writer.level("error");
        writer.service("api");
        writer.source("kubelet");
        writer.host("node-1");
        writer.traceId("0af7651916cd43dd8448eb211c80319c");
        writer.spanId("b7ad6b7169203331");
        writer.eventId("e-1");
        writer.timeParts(1_700_000_000, 123_456_789);
        writer.attribute("text", "a");
        writer.attribute("number", 1.5);
        writer.attribute("nothing", null);
        writer.attribute("absent", undefined);
        writer.attribute("list", [1, { a: "b" }]);
      }),
    ).toEqual({
      ts: 1_700_000_000_123_456_789n,
      message: "disk full",
      level: "error",
      service: "api",
      source: "kubelet",
      host: "node-1",
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      eventId: "e-1",
      attrs: { text: "a", number: 1.5, nothing: null, list: [1, { a: "b" }] },
    }));

  test("keeps the first value of a field given twice", () =>
    expect(
      entry((writer) => {
        for (const text of ["first", "second"]) {
          writer.message(text);
          writer.service(text);
          writer.source(text);
          writer.host(text);
          writer.traceId(text);
          writer.spanId(text);
          writer.eventId(text);
          writer.attribute("key", text);
        }
        writer.level("warn");
        writer.level("error");
        expect(writer.timeIso("2026-01-01T00:00:00Z")).toBe(true);
        expect(writer.timeIso("2027-01-01T00:00:00Z")).toBe(true);
      }),
    ).toEqual({
      ts: BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n,
      message: "first",
      level: "warn",
      service: "first",
      source: "first",
      host: "first",
      traceId: "first",
      spanId: "first",
      eventId: "first",
      attrs: { key: "first" },
    }));

  test("has the attributes of nested objects under names joined with dots; empty ones and lists stay whole", () =>
    expect(
      entry((writer) =>
        writer.attributes("http.", {
          request: { method: "GET", headers: {} },
          codes: [200, { a: 1 }],
          ok: true,
        }),
      )?.attrs,
    ).toEqual({
      "http.request.method": "GET",
      "http.request.headers": {},
      "http.codes": [200, { a: 1 }],
      "http.ok": true,
    }));

  test("takes names that objects inherit for what they are: names", () =>
    expect(
      entry((writer) => writer.attributes("", JSON.parse('{"__proto__":{"x":1},"constructor":"c"}')))?.attrs,
    ).toEqual({ "__proto__.x": 1, constructor: "c" }));
});

describe("what is too large is cut and marked", () => {
  test.each([
    ["a message", (w: RecordWriter) => w.message("😀".repeat(8193)), { message: "😀".repeat(8192) }],
    ["a service", (w: RecordWriter) => w.service("é".repeat(256)), { service: "é".repeat(255) }],
  ])("%s at the code point", (_, write, expected) =>
    expect(entry(write)).toMatchObject({ ...expected, attrs: { _truncated: true } }),
  );

  test("what just fits is not", () =>
    expect(
      entry((writer) => {
        writer.message("😀".repeat(8192));
        writer.host("é".repeat(255));
        writer.attribute("k".repeat(255), "é".repeat(32_768));
      })?.attrs,
    ).toEqual({ ["k".repeat(255)]: "é".repeat(32_768) }));

  test("a value at the last whole character within 64 KiB, and half a JSON text is a text", () => {
    const attrs = entry((writer) => {
      writer.attribute("text", `x${"é".repeat(40_000)}`);
      writer.attribute("json", ["y".repeat(70_000)]);
    })?.attrs;
    expect(attrs).toEqual({
      text: `x${"é".repeat(32_767)}`,
      json: `["${"y".repeat(65_534)}`,
      _truncated: true,
    });
  });

  test("attributes beyond the 254 that leave room for the marks are counted", () => {
    const attrs = entry((writer) => {
      for (let i = 0; i < 300; i++) writer.attribute(`k${i}`, "v");
      writer.message("x".repeat(9000));
    })?.attrs;
    expect(Object.keys(attrs ?? {})).toHaveLength(256);
    expect(attrs).toMatchObject({ k253: "v", _dropped_attributes: 46, _truncated: true });
  });

  // Copied for every member, the name alone would be 40 GB.
  test("a long name over many members is cut once, and the first of them stays", () => {
    const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]));
    const attrs = entry((writer) => writer.attributes("", { ["p".repeat(2_000_000)]: members }))?.attrs;
    expect(attrs).toEqual({ ["p".repeat(255)]: 0, _truncated: true });
  });

  test("an event id longer than 128 characters becomes its digest, the same for the same id", () => {
    const [one, same, other] = entries([
      (writer) => writer.eventId("e".repeat(129)),
      (writer) => writer.eventId("e".repeat(129)),
      (writer) => writer.eventId(`${"e".repeat(128)}f`),
    ]);
    expect(one?.eventId).toMatch(/^[0-9a-f]{64}$/);
    expect(same?.eventId).toBe(one?.eventId);
    expect(other?.eventId).not.toBe(one?.eventId);
  });

  test("a value that nests deeper than readers can follow is kept as a text", () => {
    const deep = JSON.parse("[".repeat(40) + "]".repeat(40));
    expect(entry((writer) => writer.attribute("deep", deep))?.attrs).toEqual({ deep: JSON.stringify(deep) });
    const abyss = JSON.parse("[".repeat(500_000) + "]".repeat(500_000));
    expect(entry((writer) => writer.attribute("abyss", abyss))?.attrs).toEqual({
      abyss: "(nested too deep)",
    });
  });
});

describe("times", () => {
  test.each([
    ["timeEpoch", 1_700_000_000, 1_700_000_000_000_000_000n],
    ["timeEpoch", 1_700_000_000.5, 1_700_000_000_500_000_000n],
    ["timeEpoch", "1700000000.123456789", 1_700_000_000_123_456_789n],
    ["timeEpoch", 1_700_000_000_123, 1_700_000_000_123_000_000n],
    ["timeEpoch", "1700000000123.25", 1_700_000_000_123_250_000n],
    ["timeEpoch", "1700000000123456", 1_700_000_000_123_456_000n],
    ["timeEpoch", "1700000000123456789", 1_700_000_000_123_456_789n],
    ["timeUnixNano", "1700000000123456789", 1_700_000_000_123_456_789n],
    ["timeUnixNano", 1_000_000_001, 1_000_000_001n],
    ["timeIso", "2023-11-14T22:13:20.000000001Z", 1_700_000_000_000_000_001n],
    ["timeIso", "2023-11-14T23:13:20+01:00", 1_700_000_000_000_000_000n],
  ] as const)("%s %p", (method, value, ts) => {
    const written = entry((writer) => expect(writeTime(writer, method, value)).toBe(true));
    expect(written?.ts).toBe(ts);
  });

  test.each([
    ["timeEpoch", 0],
    ["timeEpoch", -5],
    ["timeEpoch", Number.NaN],
    ["timeEpoch", 1e30],
    ["timeEpoch", "yesterday"],
    ["timeEpoch", ""],
    ["timeUnixNano", "0"],
    ["timeUnixNano", "99999999999999999999"],
    ["timeUnixNano", "1.5"],
    ["timeIso", "2026-01-01"],
    ["timeIso", "２026-01-01T00:00:00Z"],
    ["timeIso", "x".repeat(1000)],
  ] as const)("%s %p is none, and the entry has the time of receipt", (method, value) => {
    const written = entry((writer) => expect(writeTime(writer, method, value)).toBe(false));
    expect(written?.ts).toBe(RECEIVED_AT_NS);
  });

  function writeTime(
    writer: RecordWriter,
    method: "timeEpoch" | "timeUnixNano" | "timeIso",
    value: string | number,
  ): boolean {
    return method === "timeIso" ? writer.timeIso(String(value)) : writer[method](value);
  }
});

describe("a request", () => {
  test("without the records at some positions is the request without them, whatever they hold", () => {
    const record = fc.record({
      message: fc.string({ unit: "grapheme", maxLength: 20 }),
      service: fc.string({ maxLength: 5 }),
      traceId: fc.option(fc.constant("0af7651916cd43dd8448eb211c80319c")),
      attrs: fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue(), { maxKeys: 4 }),
    });
    const write =
      ({
        message,
        service,
        traceId,
        attrs,
      }: {
        message: string;
        service: string;
        traceId: string | null;
        attrs: Record<string, unknown>;
      }): Write =>
      (writer) => {
        writer.message(message);
        writer.service(service);
        if (traceId !== null) writer.traceId(traceId);
        writer.attributes("", attrs);
      };
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 8 }),
        fc.func(fc.boolean()),
        (records, isSkipped) => {
          const skip = records.flatMap((_, i) => (isSkipped(i) ? [i] : []));
          const all = entries(records.map(write));
          const left = skip.length === records.length ? [] : entries(records.map(write), skip);
          expect(left).toEqual(all.filter((_, i) => !skip.includes(i)));
        },
      ),
    );
  });

  test("keeps what it gives up, with its place and reason, and counts the rest", () => {
    const writer = new RecordWriter();
    const batch = new LogBatch();
    batch.beginRequest(1, RECEIVED_AT_MS);
    writer.open(batch, new Set());
    for (let i = 0; i < 10_001; i++) writer.reject({ place: `line ${i}`, reason: "is odd", raw: `raw ${i}` });
    expect(writer.rejected).toBe(10_001);
    expect(writer.rejections).toHaveLength(10_000);
    expect(writer.rejections[3]).toEqual({
      place: "line 3",
      reason: "is odd",
      raw: new TextEncoder().encode("raw 3"),
    });
    writer.open(batch, new Set());
    expect([writer.rejected, writer.rejections.length]).toEqual([0, 0]);
  });

  test("of more records than memory allows is refused", () => {
    const write = Array.from({ length: REQUEST_MAX_RECORDS + 1 }, (): Write => () => undefined);
    expect(() => entries(write)).toThrow(IngestRejectedError);
  });
});
