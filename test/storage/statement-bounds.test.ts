import { expect, test } from "bun:test";
import fc from "fast-check";
import { STATEMENT_SMALL_MIN_BYTES } from "../../src/storage/limits.ts";
import { StatementBounds } from "../../src/storage/statement-bounds.ts";

const GIB = 2 ** 30;
const RUNNING = 16;
const ALONE = { hasMemory: true, running: 1, runningOfOne: 1 };

const bytesIn = (bounds: StatementBounds, place: typeof ALONE, wanted: number): number =>
  Number(bounds.settingsIn(place, wanted).max_memory_usage);

test("one alone may use what it wants, as long as the store has it", () => {
  expect(bytesIn(new StatementBounds({ memoryBytes: 64 * GIB, threads: 2 }), ALONE, GIB)).toBe(GIB);
  expect(bytesIn(new StatementBounds({ memoryBytes: 1.5 * GIB, threads: 2 }), ALONE, GIB)).toBe(GIB);
  expect(bytesIn(new StatementBounds({ memoryBytes: GIB, threads: 2 }), ALONE, GIB)).toBe(0.75 * GIB);
});

test("together they stay below what the store has", () => {
  const sizes = fc.integer({ min: RUNNING * 4 * STATEMENT_SMALL_MIN_BYTES, max: 64 * GIB });
  const wanted = fc.array(fc.integer({ min: 1, max: 2 * GIB }), { maxLength: RUNNING });
  fc.assert(
    fc.property(sizes, wanted, (memoryBytes, statements) => {
      const bounds = new StatementBounds({ memoryBytes, threads: 2 });
      let taken = 0;
      let sum = 0;
      for (const bytes of statements) {
        const memory = bounds.memoryOf(bytes);
        const hasMemory = taken + memory <= 1;
        if (hasMemory) taken += memory;
        sum += bytesIn(bounds, { ...ALONE, hasMemory }, bytes);
      }
      expect(sum).toBeLessThanOrEqual(memoryBytes);
    }),
  );
});

test("the threads of the store are shared by those that run, and who runs more goes behind", () => {
  const settings = (threads: number | null, running: number, runningOfOne: number) =>
    new StatementBounds({ memoryBytes: GIB, threads }).settingsIn({ ...ALONE, running, runningOfOne }, GIB);
  expect(settings(32, 1, 1)).toMatchObject({ max_threads: "32", priority: "1" });
  expect(settings(32, 4, 3)).toMatchObject({ max_threads: "8", priority: "3" });
  expect(settings(2, 4, 4)).toMatchObject({ max_threads: "1", priority: "4" });
  expect(settings(null, 4, 1)).not.toHaveProperty("max_threads");
});
