import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DeliveryRates } from "../../../../src/domains/logs/tail/delivery-rate.ts";
import {
  QUEUE_MAX_ENTRIES,
  READER_ENTRIES_PER_SECOND,
  SERVER_ENTRIES_PER_SECOND,
} from "../../../../src/domains/logs/tail/limits.ts";

/** Takes as much as it can of a flood, a batch every 10 ms, and answers what each reader got. */
function flood(readers: number, seconds: number): number[] {
  let nowMs = 0;
  const rates = new DeliveryRates(() => nowMs);
  const open = Array.from({ length: readers }, () => rates.open());
  const taken = open.map(() => 0);
  for (; nowMs < seconds * 1000; nowMs += 10)
    for (const [i, rate] of open.entries()) taken[i] = (taken[i] ?? 0) + rate.take(3000);
  return taken;
}

describe("the rate of a reader", () => {
  test("lets a burst of a whole queue through, and no more than its ceiling in the long run", () => {
    const [taken = 0] = flood(1, 20);
    expect(taken).toBeWithin(
      20 * READER_ENTRIES_PER_SECOND,
      QUEUE_MAX_ENTRIES + 20 * READER_ENTRIES_PER_SECOND + 1,
    );
  });

  test("shares what the server can give fairly when all want more than that", () => {
    const taken = flood(100, 20);
    const fair = (20 * SERVER_ENTRIES_PER_SECOND) / 100;
    for (const one of taken) expect(one).toBeGreaterThanOrEqual(fair * 0.9);
    const total = taken.reduce((sum, one) => sum + one, 0);
    expect(total).toBeLessThanOrEqual((20 + 2) * SERVER_ENTRIES_PER_SECOND);
  });

  test("of one that wants little is not touched by others that want everything", () => {
    let nowMs = 0;
    const rates = new DeliveryRates(() => nowMs);
    const greedy = Array.from({ length: 99 }, () => rates.open());
    const modest = rates.open();
    for (; nowMs < 10_000; nowMs += 100) {
      for (const rate of greedy) rate.take(100_000);
      expect(modest.take(40)).toBe(40);
    }
  });

  test("gives in a few pieces rather than many, once it is used up", () => {
    let nowMs = 0;
    const rate = new DeliveryRates(() => nowMs).open();
    let pauses = 0;
    let wasGiven = true;
    for (; nowMs < 10_000; nowMs += 5) {
      const isGiven = rate.take(1000) > 0;
      if (wasGiven && !isGiven) pauses++;
      wasGiven = isGiven;
    }
    expect(pauses).toBeWithin(1, 50);
  });

  test("never takes more than is wanted, whatever the times and wishes", () => {
    const step = fc.record({ waitMs: fc.nat(2000), wanted: fc.nat(20_000) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        let nowMs = 0;
        const rates = new DeliveryRates(() => nowMs);
        const [one, other] = [rates.open(), rates.open()];
        for (const { waitMs, wanted } of steps) {
          nowMs += waitMs;
          for (const rate of [one, other]) expect(rate.take(wanted)).toBeWithin(0, wanted + 1);
        }
      }),
    );
  });
});
