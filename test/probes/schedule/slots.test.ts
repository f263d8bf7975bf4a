import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  latestDue,
  missedSlots,
  nextSlot,
  slotAfter,
  slotAtOrBefore,
} from "../../../src/probes/schedule/slots.ts";

const grids = fc.record({
  monitorId: fc.integer({ min: 1, max: 2 ** 40 }),
  intervalMs: fc.constantFrom(1_000, 30_000, 60_000, 3_600_000),
});
const moments = fc.integer({ min: 1_600_000_000_000, max: 2_000_000_000_000 });

describe("slots", () => {
  test("are an interval apart, each moment between two of them, and the same whoever computes them", () => {
    fc.assert(
      fc.property(grids, moments, (grid, ms) => {
        const slot = slotAtOrBefore(grid, ms);
        expect(slot).toBeLessThanOrEqual(ms);
        expect(slotAfter(grid, ms)).toBe(slot + grid.intervalMs);
        expect(slotAfter(grid, ms)).toBeGreaterThan(ms);
        expect(slotAtOrBefore(grid, slot)).toBe(slot);
      }),
    );
  });

  test("that were missed are those due before the one that was taken, counted one by one", () => {
    fc.assert(
      fc.property(
        grids,
        moments,
        fc.integer({ min: -2, max: 40 }),
        fc.nat(999),
        (grid, due, steps, aside) => {
          const slot = slotAtOrBefore(grid, due) + steps * grid.intervalMs + aside;
          let counted = 0;
          for (let at = due; at < slot; at = slotAfter(grid, at)) counted += 1;
          expect(missedSlots(grid, due, slot)).toBe(counted);
        },
      ),
    );
  });

  test("whoever is late takes the latest that is due, never one that is not", () => {
    fc.assert(
      fc.property(grids, moments, fc.nat(10_000_000), (grid, due, lateMs) => {
        const slot = latestDue(grid, due, due + lateMs);
        expect(slot).toBeGreaterThanOrEqual(due);
        expect(slot).toBeLessThanOrEqual(due + lateMs);
        expect(slotAfter(grid, slot)).toBeGreaterThan(due + lateMs);
      }),
    );
  });

  test("follow a failure by the retry interval, the first time that is not over yet", () => {
    fc.assert(
      fc.property(
        grids,
        moments,
        fc.integer({ min: 5, max: 3_600 }),
        fc.nat(100_000),
        (grid, slot, sec, took) => {
          const next = nextSlot(grid, slot, { retryMs: sec * 1000, nowMs: slot + took });
          expect((next - slot) % (sec * 1000)).toBe(0);
          expect(next).toBeGreaterThan(slot);
          expect(next).toBeGreaterThanOrEqual(slot + took);
          expect(next - sec * 1000).toBeLessThan(Math.max(slot + took, slot + 1));
        },
      ),
    );
    expect(nextSlot({ monitorId: 1, intervalMs: 30_000 }, 5, null)).toBe(
      slotAfter({ monitorId: 1, intervalMs: 30_000 }, 5),
    );
  });

  test("of many monitors are spread over the interval", () => {
    const buckets = Array.from({ length: 30 }, () => 0);
    for (let monitorId = 1; monitorId <= 6_000; monitorId++) {
      const bucket = Math.floor(slotAfter({ monitorId, intervalMs: 30_000 }, -1) / 1_000);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    expect(Math.max(...buckets)).toBeLessThan(280);
    expect(Math.min(...buckets)).toBeGreaterThan(130);
  });
});
