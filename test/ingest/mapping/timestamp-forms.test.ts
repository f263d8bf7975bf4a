import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compileMapping } from "../../../ingest/mapping/compile-mapping.ts";
import type { TimestampParse } from "../../../ingest/mapping/mapping.ts";
import { mapRecord } from "../../../ingest/mapping/preview.ts";

/** The time of an entry; null when the record is refused. */
function timeOf(value: unknown, parse: TimestampParse): string | null {
  const map = compileMapping({ timestamp: { from: "t", parse } });
  return mapRecord(map, { t: value }).entry?.ts ?? null;
}

describe("a timestamp", () => {
  test.each<[unknown, string]>([
    [1_790_000_000, "2026-09-21T14:13:20.000Z"],
    ["1790000000", "2026-09-21T14:13:20.000Z"],
    [1_790_000_000.25, "2026-09-21T14:13:20.250Z"],
    [1_790_000_000_123, "2026-09-21T14:13:20.123Z"],
    [1_790_000_000_123_456, "2026-09-21T14:13:20.123456Z"],
    ["1790000000123456789", "2026-09-21T14:13:20.123456789Z"],
    ["2026-09-21T14:13:20Z", "2026-09-21T14:13:20.000Z"],
    ["2026-09-21T16:13:20.123456789+02:00", "2026-09-21T14:13:20.123456789Z"],
    ["2026-09-21 14:13:20,5", "2026-09-21T14:13:20.500Z"],
    ["2026-09-21T14:13:20.123", "2026-09-21T14:13:20.123Z"],
    ["2026-09-21 16:13:20 +0200", "2026-09-21T14:13:20.000Z"],
    ["2026-09-21 16:13:20+02", "2026-09-21T14:13:20.000Z"],
    ["2026-09-21 14:13:20 UTC", "2026-09-21T14:13:20.000Z"],
    [" 2026-09-21T14:13:20Z ", "2026-09-21T14:13:20.000Z"],
    ["21/Sep/2026:16:13:20 +0200", "2026-09-21T14:13:20.000Z"],
    ["Mon, 21 Sep 2026 14:13:20 GMT", "2026-09-21T14:13:20.000Z"],
    ["1 Sep 2026 14:13:20 -0000", "2026-09-01T14:13:20.000Z"],
  ])("of any usual form is read: %p", (value, expected) => expect(timeOf(value, "auto")).toBe(expected));

  test.each([
    0,
    -1,
    12,
    99_999_999,
    Number.MAX_VALUE,
    "",
    "yesterday",
    "2026-02-30T00:00:00Z",
    "2026-13-01 00:00:00",
    "2300-01-01T00:00:00Z",
    "21/Sept/2026:16:13:20 +0200",
    "1".repeat(40),
    true,
    [[1_790_000_000]],
    { seconds: 1_790_000_000 },
  ])("that is none is not guessed: %p", (value) => expect(timeOf(value, "auto")).toBeNull());

  test("counts as its mapping says, whatever its magnitude", () => {
    expect(timeOf(1_790_000_000_123, "epoch_s")).toBeNull();
    expect(timeOf(5, "epoch_s")).toBe("1970-01-01T00:00:05.000Z");
    expect(timeOf("5.000000001", "epoch_s")).toBe("1970-01-01T00:00:05.000000001Z");
    expect(timeOf(5, "epoch_ms")).toBe("1970-01-01T00:00:00.005Z");
    expect(timeOf(1_790_000_000, "epoch_ms")).toBe("1970-01-21T17:13:20.000Z");
    expect(timeOf("1790000000123.25", "epoch_ms")).toBe("2026-09-21T14:13:20.12325Z");
    expect(timeOf(0, "epoch_ms")).toBeNull();
    expect(timeOf("2026-09-21T14:13:20Z", "epoch_ms")).toBeNull();
    expect(timeOf(1_790_000_000, "iso")).toBeNull();
    expect(timeOf("1790000000", "iso")).toBeNull();
  });

  test("of milliseconds is exact over all that the store can hold", () => {
    const times = fc.integer({ min: 1, max: Date.UTC(2262, 3, 10) });
    fc.assert(
      fc.property(times, (ms) => {
        const iso = new Date(ms).toISOString();
        expect(timeOf(ms, "epoch_ms")).toBe(iso);
        expect(timeOf(iso, "iso")).toBe(iso);
        expect(timeOf((ms / 1000).toFixed(3), "epoch_s")).toBe(iso);
      }),
    );
  });

  test("that is absent, null or empty leaves the record its time of receipt", () => {
    const map = compileMapping({ timestamp: { from: "t", fromDefault: "u" } });
    for (const record of [{}, { t: null }, { t: "", u: null }])
      expect(mapRecord(map, record)).toMatchObject({ entry: { ts: null }, problem: null });
    expect(mapRecord(map, { t: null, u: 1_790_000_000 }).entry).toMatchObject({
      ts: "2026-09-21T14:13:20.000Z",
      attrs: { t: null },
    });
  });
});
