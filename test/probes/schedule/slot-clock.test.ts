import { expect, test } from "bun:test";
import fc from "fast-check";
import { SlotClock } from "../../../src/probes/schedule/slot-clock.ts";

const START_MS = 1_800_000_000_000;

test("the clock of slots never goes back, and never stands still, whatever the other one is set to", () => {
  const steps = fc.array(
    fc.record({
      passedMs: fc.integer({ min: 1, max: 10_000 }),
      setByMs: fc.oneof(fc.constant(0), fc.integer({ min: -5_000_000, max: 5_000_000 })),
    }),
  );
  fc.assert(
    fc.property(steps, (all) => {
      const clock = new SlotClock(START_MS, 0);
      let monotonic = 0;
      let other = START_MS;
      for (const { passedMs, setByMs } of all) {
        const before = clock.now(monotonic);
        monotonic += passedMs;
        other += passedMs + setByMs;
        expect(clock.now(monotonic) - before).toBeGreaterThanOrEqual(passedMs * 0.89);
        const at = clock.now(monotonic);
        clock.follow(other, monotonic);
        expect(clock.now(monotonic)).toBeGreaterThanOrEqual(at);
        expect(clock.now(monotonic)).toBeGreaterThanOrEqual(other - 1_001);
        expect(clock.now(monotonic) - clock.time.leadMs).toBeCloseTo(other, 3);
      }
    }),
  );
});

test("a clock that is a little off comes back by itself, one that was set back is caught up with", () => {
  for (const offMs of [-400, 300, -60_000]) {
    const clock = new SlotClock(START_MS, 0);
    for (let monotonic = 2_000; monotonic <= 1_200_000; monotonic += 2_000)
      clock.follow(START_MS + offMs + monotonic, monotonic);
    expect(Math.abs(clock.now(1_200_000) - (START_MS + offMs + 1_200_000))).toBeLessThan(1);
  }
});

test("it goes on from a slot that somebody else has recorded", () => {
  const clock = new SlotClock(START_MS, 0);
  clock.reach(START_MS + 500_000, 0);
  expect(clock.now(0)).toBe(START_MS + 500_000);
  expect(clock.time.leadMs).toBe(500_000);
  clock.reach(START_MS, 0);
  expect(clock.now(0)).toBe(START_MS + 500_000);
});
