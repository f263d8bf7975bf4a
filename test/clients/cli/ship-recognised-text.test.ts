import { expect, test } from "bun:test";
import fc from "fast-check";
import { EntryText } from "../../../clients/cli/ship/entry-text.ts";
import { entryTimeMs } from "../../../clients/cli/ship/entry-time.ts";
import { fitEntry } from "../../../clients/cli/ship/fit-entry.ts";
import { RecognisedText } from "../../../clients/cli/ship/recognised-text.ts";
import { nativeEntryOf, type RecognisedEntry } from "../../../ingest/recognise/index.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("", "a", '"\\', "\ud800", "x".repeat(300), "😀".repeat(200), "y".repeat(9000)),
);
const field = fc.option(text);
const value = fc.oneof(
  text,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant(JSON.rawJSON("12345678901234567890.50")),
  fc.constant("z".repeat(70_000)),
  fc.jsonValue(),
);
const key = fc.oneof(text, fc.constantFrom("1", "01", "trace_id", "span_id", "__proto__", "ts", "status"));
const time = fc.record({
  seconds: fc.oneof(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), fc.integer({ min: -3e9, max: 1e10 })),
  nanos: fc.oneof(fc.constantFrom(0, 1, 120_000_000, 999_999_999), fc.nat(999_999_999)),
});
const entry: fc.Arbitrary<RecognisedEntry> = fc.record({
  form: fc.constant("form"),
  time: fc.option(time.filter(({ seconds }) => Math.abs(seconds) < 2e11)),
  level: fc.option(fc.constantFrom("info", "error")),
  service: field,
  source: field,
  host: field,
  traceId: fc.option(fc.constant("0af7651916cd43dd8448eb211c80319c")),
  spanId: fc.option(fc.constant("00f067aa0ba902b7")),
  eventId: field,
  message: text,
  attributes: fc.array(fc.tuple(key, value), { maxLength: 4 }).map((pairs) => new Map(pairs)),
  start: fc.constant(0),
  end: fc.constant(1),
  goesOn: fc.boolean(),
});
const defaults = fc
  .subarray(["service", "source", "host", "level"] as const)
  .chain((names) => fc.shuffledSubarray([...names], { minLength: names.length }))
  .map((names) => Object.fromEntries(names.map((name) => [name, name === "level" ? "warn" : `d ${name}`])));

test("an entry is written straight as it is by way of objects, or left to that way", () => {
  let straight = 0;
  let runs = 0;
  fc.assert(
    fc.property(entry, defaults, (recognised, given) => {
      runs++;
      const written = new RecognisedText(given).of(recognised);
      if (written === null) return;
      straight++;
      const native = fitEntry(nativeEntryOf(recognised));
      const expected = new EntryText(given).ofRecognised(
        native,
        native.ts === undefined ? null : entryTimeMs(native.ts),
      );
      expect({ ...written, timeMs: null }).toEqual({ ...expected, timeMs: null });
      // Of a fraction in binary the last millisecond may be lost.
      expect(Math.abs((written.timeMs ?? 0) - (expected.timeMs ?? 0))).toBeLessThanOrEqual(1);
    }),
    { numRuns: 3000 },
  );
  expect(straight / runs).toBeGreaterThan(0.02);
});
