import { expect, test } from "bun:test";
import fc from "fast-check";
import { STATEMENT_MIN_MEMORY_BYTES, STATEMENTS_MEMORY_SHARE } from "../../src/storage/limits.ts";
import { StatementMemory } from "../../src/storage/statement-memory.ts";

const GIB = 2 ** 30;
const RUNNING = 16;

test("statements have what they want where there is plenty", () => {
  const memory = new StatementMemory(64 * GIB);
  const granted = Array.from({ length: RUNNING }, (_, i) => memory.take(i >> 2, GIB).bytes);
  expect(granted).toEqual(granted.map(() => GIB));
});

test("one organisation's statements leave those of another as much as one of them has", () => {
  const memory = new StatementMemory(4 * GIB);
  const own = Array.from({ length: 4 }, () => memory.take(1, GIB).bytes);
  const other = memory.take(2, GIB).bytes;
  expect(other).toBeGreaterThanOrEqual(own[1] ?? 0);
  expect(other).toBeGreaterThan(4 * STATEMENT_MIN_MEMORY_BYTES);
});

test("a statement leaves half of what its organisation may have to its next one", () => {
  const memory = new StatementMemory(4 * GIB);
  const [first = 0, second = 0] = Array.from({ length: 2 }, () => memory.take(1, 4 * GIB).bytes);
  expect(second).toBe(first / 2);
});

test("together they stay below what the store has, and what is over is given back", () => {
  const step = fc.record({ organization: fc.nat(5), wanted: fc.integer({ min: 1, max: 2 * GIB }) });
  const sizes = fc.integer({ min: GIB / 2, max: 32 * GIB });
  fc.assert(
    fc.property(sizes, fc.array(step, { maxLength: RUNNING }), (storeBytes, steps) => {
      const memory = new StatementMemory(storeBytes);
      const grants = steps.map(({ organization, wanted }) => {
        const grant = memory.take(organization, wanted);
        expect(grant.bytes).toBeGreaterThanOrEqual(Math.min(wanted, STATEMENT_MIN_MEMORY_BYTES));
        expect(grant.bytes).toBeLessThanOrEqual(wanted);
        return grant;
      });
      const least = RUNNING * STATEMENT_MIN_MEMORY_BYTES;
      const sum = grants.reduce((total, { bytes }) => total + bytes, 0);
      expect(sum).toBeLessThanOrEqual(storeBytes * STATEMENTS_MEMORY_SHARE + least);
      for (const { giveBack } of grants) giveBack();
      expect(memory.bytes).toBe(0);
    }),
  );
});
