import { expect, test } from "bun:test";
import fc from "fast-check";
import { EntryText } from "../../../clients/cli/ship/entry-text.ts";
import { NativeFormat } from "../../../ingest/decode/native.ts";
import { IngestRejectedError } from "../../../ingest/errors.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";

const format = new NativeFormat();
const texts = new EntryText({});

/** What the server has against an entry; null when it takes it. */
function objection(entry: string): string | null {
  const batch = new LogBatch();
  batch.beginRequest(1, 0);
  try {
    format.decode(new TextEncoder().encode(`[${entry}]`), batch, new Set());
    return null;
  } catch (error) {
    if (error instanceof IngestRejectedError) return JSON.stringify(error.issues);
    throw error;
  }
}

const digits = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom("0", "1", "2", "3", "5", "9"), minLength: length, maxLength: length });
const time = fc
  .record({
    year: fc.oneof(digits(4), fc.constantFrom("0000", "1899", "1900", "2026", "2262", "9999")),
    month: fc.constantFrom("00", "01", "02", "04", "12", "13"),
    day: fc.constantFrom("00", "01", "28", "29", "30", "31", "32"),
    separator: fc.constantFrom("T", "t", " "),
    hour: fc.constantFrom("00", "23", "24"),
    second: fc.constantFrom("00", "59", "60", "61"),
    fraction: fc.oneof(
      fc.constant(""),
      digits(3).map((text) => `.${text}`),
      digits(12).map((text) => `.${text}`),
    ),
    offset: fc.constantFrom("Z", "z", "+00:00", "-23:59", "+24:00", "+0530", "-00:60", ""),
  })
  .map((t) => `${t.year}-${t.month}-${t.day}${t.separator}${t.hour}:00:${t.second}${t.fraction}${t.offset}`);
const ts = fc.oneof(
  time,
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.nat({ max: 20 }).map((exponent) => 10 ** exponent),
  fc.double(),
);
const nested = fc.nat({ max: 40 }).map((depth) => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
});
const name = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.nat({ max: 300 }).map((length) => "é".repeat(length)),
);
const entry = fc.record(
  {
    message: fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("\ud800", "x".repeat(8192), "\u{1f600}".repeat(8192), "\u{1f600}".repeat(8193)),
    ),
    ts,
    level: fc.constantFrom("info", "INFO", "", "fatal"),
    service: name,
    source: name,
    host: name,
    event_id: name,
    attrs: fc.oneof(
      fc.dictionary(name, fc.jsonValue()),
      nested.map((value) => ({ value })),
      fc.nat({ max: 70_000 }).map((length) => ({ value: "\u0001".repeat(length) })),
    ),
  },
  { requiredKeys: ["message"] },
);

test("whatever is taken as an entry, the server takes", () => {
  let taken = 0;
  fc.assert(
    fc.property(entry, (value) => {
      const taking = texts.ofNative(JSON.stringify(value));
      if (taking === null) return;
      taken++;
      expect(objection(taking.text)).toBeNull();
    }),
    { numRuns: 3000 },
  );
  expect(taken).toBeGreaterThan(100);
});

test("a time that the server takes makes no entry a text", () => {
  fc.assert(
    fc.property(ts, (value) => {
      const text = JSON.stringify({ message: "m", ts: value });
      if (objection(text) === null) expect(texts.ofNative(text)?.text).toBe(text);
    }),
    { numRuns: 3000 },
  );
  const nanoseconds = '{"message":"m","ts":1700000000123456789}';
  expect(texts.ofNative(nanoseconds)?.text).toBe(nanoseconds);
  expect(texts.ofNative('{"message":"m","ts":"0001-01-01T00:00:00Z"}')).toBeNull();
});

test("also when it is written in an unusual way", () => {
  for (const text of [
    '{"message":"a","message":"b"}',
    '{"message":"a","attrs":{"k":1,"k":2}}',
    '{"mess\\u0061ge":"a"}',
    '{"message":"a","ts":1e9}',
    '{"message":"a","ts":1700000000.0}',
    '{"message":"a","attrs":{"n":1e400,"m":-0,"long":0.1000000000000000055511151231257827}}',
    '{"message":"\\ud83d"}',
    '{"message":"\\u0000"}',
    '\t{ "message" : "a" } \r',
  ]) {
    const native = texts.ofNative(text);
    expect([text, native === null ? null : objection(native.text)]).toEqual([text, null]);
  }
});
