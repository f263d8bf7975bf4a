import { expect, test } from "bun:test";
import fc from "fast-check";
import { StatementBounds } from "../../src/storage/statement-bounds.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const SEARCHES = { memory: 7 / 8, places: 16 };
const WHOLE = { memory: 1, places: 16 };
const ALONE = { hasMemory: true, running: 1, runningOfOne: 1 };

const bytesIn = (bounds: StatementBounds, place: typeof ALONE, wanted: number): number =>
  Number(bounds.settingsIn(place, wanted).max_memory_usage);

/** What these statements may take together when they run at the same time, each with memory of its own if it gets some. */
function taken(bounds: StatementBounds, statements: readonly number[]): number {
  let memoryTaken = 0;
  let sum = 0;
  for (const bytes of statements) {
    const memory = bounds.memoryOf(bytes);
    const hasMemory = memoryTaken + memory <= 1;
    if (hasMemory) memoryTaken += memory;
    sum += bytesIn(bounds, { ...ALONE, hasMemory }, bytes);
  }
  return sum;
}

test("one alone may use what it wants, as long as the store has it", () => {
  const alone = (memoryBytes: number): number =>
    bytesIn(new StatementBounds({ memoryBytes, threads: 2 }, WHOLE), ALONE, GIB);
  expect(alone(64 * GIB)).toBe(GIB);
  expect(alone(1.5 * GIB)).toBe(GIB);
  expect(alone(GIB)).toBe(0.75 * GIB);
});

test("one without memory of its own may take what a search needs, and in a small store its part", () => {
  const beside = (memoryBytes: number): number =>
    bytesIn(new StatementBounds({ memoryBytes, threads: 2 }, WHOLE), { ...ALONE, hasMemory: false }, GIB);
  expect(beside(64 * GIB)).toBe(64 * MIB);
  expect(beside(2 * GIB)).toBe(32 * MIB);
  expect(beside(0.5 * GIB)).toBe(8 * MIB);
});

test("together they stay below what the store has, also a small one, whoever admits them", () => {
  const sizes = fc.integer({ min: 64 * MIB, max: 64 * GIB });
  const wanted = (maxLength: number): fc.Arbitrary<number[]> =>
    fc.array(fc.integer({ min: 1, max: 2 * GIB }), { maxLength });
  const tails = { memory: 1 - SEARCHES.memory, places: 4 };
  fc.assert(
    fc.property(sizes, wanted(SEARCHES.places), wanted(tails.places), (memoryBytes, searched, read) => {
      const capacity = { memoryBytes, threads: 2 };
      const sum =
        taken(new StatementBounds(capacity, SEARCHES), searched) +
        taken(new StatementBounds(capacity, tails), read);
      expect(sum).toBeLessThanOrEqual(memoryBytes);
    }),
  );
});

test("the threads of the store are shared by those that run, and who runs more goes behind", () => {
  const settings = (threads: number | null, running: number, runningOfOne: number) =>
    new StatementBounds({ memoryBytes: GIB, threads }, WHOLE).settingsIn(
      { ...ALONE, running, runningOfOne },
      GIB,
    );
  expect(settings(32, 1, 1)).toMatchObject({ max_threads: "32", priority: "1" });
  expect(settings(32, 4, 3)).toMatchObject({ max_threads: "8", priority: "3" });
  expect(settings(2, 4, 4)).toMatchObject({ max_threads: "1", priority: "4" });
  expect(settings(null, 4, 1)).not.toHaveProperty("max_threads");
});
