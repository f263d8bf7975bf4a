import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LOG_ID_EPOCH_MS } from "../../../../ingest/index.ts";
import { idBefore, sourceOf, TailPosition } from "../../../../src/domains/logs/tail/position.ts";

/** An id of a server, so many milliseconds after the epoch of ids. */
const idOf = (source: number, ms: number): bigint => (BigInt(ms) << 22n) | BigInt(source);
const START_MS = 1_000_000;
const start = (): TailPosition => TailPosition.at(LOG_ID_EPOCH_MS + START_MS, idOf(1, START_MS) - 1024n);

const step = fc.record({ source: fc.nat(5), ms: fc.integer({ min: START_MS, max: START_MS + 1000 }) });

describe("a position", () => {
  test("is the same position after a trip through its text", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.array(step), (passed, asked) => {
        const position = start();
        for (const { source, ms } of passed) position.pass(idOf(source, ms));
        const text = position.toString();
        const again = TailPosition.parse(text);
        expect(again?.toString()).toBe(text);
        for (const { source, ms } of asked)
          expect(again?.isAhead(idOf(source, ms))).toBe(position.isAhead(idOf(source, ms)));
        expect(text).toMatch(/^[0-9a-z-]{1,256}$/);
      }),
    );
  });

  test("has passed of each server what is at or below the last id passed of it, and nothing of the others", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.array(step), (passed, asked) => {
        const position = start();
        for (const { source, ms } of passed) position.pass(idOf(source, ms));
        for (const { source, ms } of asked) {
          const last = Math.max(
            ...passed.filter((other) => other.source === source).map((other) => other.ms),
            START_MS - 1,
          );
          expect(position.isAhead(idOf(source, ms))).toBe(ms > last);
        }
      }),
    );
  });

  test("says its text at an id as it will be", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (passed) => {
        const position = start();
        for (const { source, ms } of passed) {
          const id = idOf(source, ms);
          if (!position.isAhead(id)) continue;
          const text = position.textAt(id);
          position.pass(id);
          const [left, right] = [TailPosition.parse(text), position];
          for (const asked of passed) {
            const other = idOf(asked.source, asked.ms);
            expect(left?.isAhead(other)).toBe(right.isAhead(other));
            expect(left?.isAhead(other + 1024n)).toBe(right.isAhead(other + 1024n));
          }
        }
      }),
    );
  });

  test("forgets servers that are behind its floor, and stays bounded however many there were", () => {
    const position = start();
    for (let i = 0; i < 1024; i++) position.pass(idOf(i, START_MS + i));
    expect(position.toString().length).toBeLessThanOrEqual(256);
    expect(position.isAhead(idOf(1023, START_MS + 1023))).toBe(false);
    position.raiseFloor(idBefore(LOG_ID_EPOCH_MS + START_MS + 5000), 7);
    expect(position.isAhead(idOf(55, START_MS + 4999))).toBe(false);
    expect(position.isAhead(idOf(55, START_MS + 5000))).toBe(true);
  });

  test.each(["", "-", "A", "1-", "1-2-2", "é", "1".repeat(14), "1-zzzzzzzzzzzzz", "1-2 "])(
    "is not %p",
    (text) => {
      expect(TailPosition.parse(text)).toBeNull();
    },
  );

  test("tells servers apart by the lowest bits of an id", () => {
    expect(sourceOf(idOf(1023, 5))).toBe(1023);
    expect(sourceOf(idOf(0, 5))).toBe(0);
  });
});
