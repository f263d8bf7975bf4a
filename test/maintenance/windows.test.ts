import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isCovered, type MaintenanceWindow } from "../../src/maintenance/windows.ts";

const HOUR_MS = 3_600_000;

describe("a maintenance window", () => {
  test("is half-open: its beginning is in it, its end is not", () => {
    const windows = [{ monitorId: 17, fromMs: 1000, toMs: 2000 }];
    const covered = [999, 1000, 1999, 2000].map((atMs) => isCovered(windows, 17, atMs));
    expect(covered).toEqual([false, true, true, false]);
  });

  test("is about its monitor, or about all of them", () => {
    const one: MaintenanceWindow = { monitorId: 17, fromMs: 0, toMs: 10 };
    expect(isCovered([one], 18, 5)).toBe(false);
    expect(isCovered([{ ...one, monitorId: null }], 18, 5)).toBe(true);
  });

  test("covers as long as it says, also over the hour that a zone leaves out or has twice", () => {
    // The nights in which Europe puts its clocks forward and back.
    for (const begin of ["2026-03-29T00:30:00Z", "2026-10-25T00:30:00Z"]) {
      const fromMs = Date.parse(begin);
      const windows = [{ monitorId: null, fromMs, toMs: fromMs + 2 * HOUR_MS }];
      const minutes = Array.from({ length: 240 }, (_, i) => fromMs - HOUR_MS + i * 60_000);
      expect(minutes.filter((atMs) => isCovered(windows, 1, atMs))).toHaveLength(120);
    }
  });

  test("covers what any of several covers, in whatever order they stand", () => {
    const windows = fc.array(
      fc.record({
        monitorId: fc.constantFrom(null, 1, 2),
        fromMs: fc.integer({ min: 0, max: 20 }),
        toMs: fc.integer({ min: 0, max: 20 }),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(windows, fc.integer({ min: 0, max: 20 }), (all, atMs) => {
        const expected = all.some((window) => isCovered([window], 1, atMs));
        expect(isCovered(all, 1, atMs)).toBe(expected);
        expect(isCovered(all.toReversed(), 1, atMs)).toBe(expected);
      }),
    );
  });
});
