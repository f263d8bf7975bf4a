import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatNs, parseDateTimeNs } from "../../../src/domains/logs/entry-time.ts";

const MIN_NS = BigInt(Date.UTC(1900, 0, 1)) * 1_000_000n;
const MAX_NS = 2n ** 63n - 1n;

describe("a time in nanoseconds", () => {
  test("survives being written and read, with 3, 6 or 9 digits", () => {
    const scale = fc.constantFrom(1n, 1_000n, 1_000_000n, 1_000_000_000n);
    fc.assert(
      fc.property(fc.bigInt(MIN_NS, MAX_NS), scale, (ns, unit) => {
        const time = ns - (ns % unit);
        const text = formatNs(time.toString());
        expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?:\d{3}|\d{6}|\d{9})Z$/);
        expect(parseDateTimeNs(text)).toBe(time);
      }),
    );
  });

  test.each([
    ["0", "1970-01-01T00:00:00.000Z"],
    ["1", "1970-01-01T00:00:00.000000001Z"],
    ["999999", "1970-01-01T00:00:00.000999999Z"],
    ["1000000", "1970-01-01T00:00:00.001Z"],
    ["-1", "1969-12-31T23:59:59.999999999Z"],
    ["9223372036854775807", "2262-04-11T23:47:16.854775807Z"],
    ["-62167219200001000000", "0000-01-01T00:00:00.000Z"],
    ["253402300800000000000", "9999-12-31T23:59:59.999Z"],
  ])("%s is %s", (ns, text) => {
    expect(formatNs(ns)).toBe(text);
  });

  test.each([
    ["2026-01-02T03:04:05Z", 1_767_323_045_000_000_000n],
    ["2026-01-02T03:04:05.1Z", 1_767_323_045_100_000_000n],
    ["2026-01-02T04:04:05.000000001+01:00", 1_767_323_045_000_000_001n],
    ["1969-12-31T23:59:59.999999999Z", -1n],
  ])("%s is read as nanoseconds", (text, ns) => {
    expect(parseDateTimeNs(text)).toBe(ns);
  });
});
