import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fitAnswer } from "../../src/tools/fit-answer.ts";

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe("an answer that is to fit", () => {
  test("fits, whatever it is, is JSON, and is left alone where it fits by itself", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 64, max: 4000 }), (value, maxBytes) => {
        const fitted = fitAnswer(value, maxBytes);
        expect(bytesOf(fitted.value)).toBeLessThanOrEqual(maxBytes);
        expect(fitted.isCut).toBe(bytesOf(value) > maxBytes);
        if (!fitted.isCut) expect(fitted.value).toEqual(value);
      }),
    );
  });

  test("keeps as many elements as fit, the first ones", () => {
    const entry = fc.record({ id: fc.nat(), message: fc.string({ maxLength: 80 }) });
    fc.assert(
      fc.property(fc.array(entry, { minLength: 60, maxLength: 200 }), (entries) => {
        const { value, isCut, items } = fitAnswer({ entries }, 2000);
        if (!isCut || items === null) return;
        expect(value).toEqual({ entries: entries.slice(0, items) });
        expect(bytesOf({ entries: entries.slice(0, items + 1) })).toBeGreaterThan(2000);
      }),
    );
  });

  test("cuts long texts before it leaves elements out, and never through a character", () => {
    const entries = Array.from({ length: 12 }, (_, id) => ({ id, message: "🦉".repeat(5000) }));
    const { value, items } = fitAnswer({ entries }, 64_000);
    expect(items).toBeNull();
    const kept = JSON.stringify(value);
    expect(kept.match(/"id":/g)?.length).toBe(12);
    expect(kept.isWellFormed()).toBe(true);
    expect(kept).toContain("…");
  });

  test("of what has no lists and no long texts is its beginning", () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`name${n}`, n]));
    const { value, isCut } = fitAnswer(many, 1000);
    expect(isCut).toBe(true);
    expect(String(value)).toStartWith('{"name0":0');
  });
});
