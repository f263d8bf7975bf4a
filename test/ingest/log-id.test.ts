import { expect, test } from "bun:test";
import fc from "fast-check";
import { LOG_ID_EPOCH_MS, LOG_ID_STEP, LogIdGenerator } from "../../ingest/log-id.ts";

test("ids never repeat and always grow, whatever the clock does", () => {
  const steps = fc.array(
    fc.tuple(fc.integer({ min: -5000, max: 5000 }), fc.integer({ min: 1, max: 20_000 })),
    { maxLength: 50 },
  );
  fc.assert(
    fc.property(fc.nat(1023), steps, (instance, moves) => {
      let now = LOG_ID_EPOCH_MS + 200_000_000_000;
      const ids = new LogIdGenerator(instance, () => now);
      let last = -1n;
      for (const [clockStep, count] of moves) {
        now += clockStep;
        const first = ids.take(count);
        expect(first > last).toBe(true);
        last = first + BigInt((count - 1) * LOG_ID_STEP);
        expect(Number(last & 1023n)).toBe(instance);
      }
    }),
  );
});

test("an id carries the time it was made at", () => {
  const now = Date.parse("2026-11-21T00:00:00Z");
  expect(Number(new LogIdGenerator(7, () => now).take(1) >> 22n) + LOG_ID_EPOCH_MS).toBe(now);
});

test("an instance number that does not fit is refused", () => {
  expect(() => new LogIdGenerator(1024, Date.now)).toThrow(RangeError);
  expect(() => new LogIdGenerator(-1, Date.now)).toThrow(RangeError);
});

test("ids grow and the mark divides them when the number of the server changes", () => {
  const now = LOG_ID_EPOCH_MS + 200_000_000_000;
  let instance: number | null = 1000;
  const ids = new LogIdGenerator(
    () => instance,
    () => now,
  );
  const before = ids.take(1);
  instance = 5;
  const between = ids.mark() - BigInt(LOG_ID_STEP);
  const after = ids.take(1);
  const afterwards = ids.mark() - BigInt(LOG_ID_STEP);
  expect(before <= between && between < after && after <= afterwards).toBe(true);
  expect(Number(after & 1023n)).toBe(5);
});

test("without a number there are no ids, and a mark all the same", () => {
  let instance: number | null = 3;
  const ids = new LogIdGenerator(
    () => instance,
    () => LOG_ID_EPOCH_MS + 1_000,
  );
  const first = ids.take(2);
  instance = null;
  expect(ids.isReady).toBe(false);
  expect(() => ids.take(1)).toThrow("no number");
  expect(ids.mark()).toBe(first + 2n * BigInt(LOG_ID_STEP));
});
