import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { autocluster, basket, diffPatterns } from "../../../query/segments/choose-segments.ts";
import type { Combination, Segment } from "../../../query/segments/combination.ts";

const value = fc.option(fc.constantFrom("a", "b", "c"), { nil: null });
const combinationsOf = (groups: number) =>
  fc.uniqueArray(
    fc.record({
      values: fc.tuple(value, value, value),
      counts: fc.array(fc.nat({ max: 50 }), { minLength: groups, maxLength: groups }),
    }),
    { selector: ({ values }) => JSON.stringify(values), minLength: 1, maxLength: 20 },
  );

/** Every segment that there is, counted row by row. */
function everySegment(combinations: readonly Combination[]): Segment[] {
  const seen = new Map<string, Segment>();
  for (const { values } of combinations)
    for (let mask = 1; mask < 2 ** values.length; mask++) {
      const fixed = values.map((each, i) => ((mask >> i) & 1 ? each : null));
      if (fixed.some((each, i) => (mask >> i) & 1 && each === null)) continue;
      const rows = combinations.filter(({ values: of }) =>
        fixed.every((each, i) => each === null || each === of[i]),
      );
      const counts = combinations[0]?.counts.map((_, group) =>
        rows.reduce((total, { counts }) => total + (counts[group] ?? 0), 0),
      );
      seen.set(JSON.stringify(fixed), { values: fixed, counts: counts ?? [] });
    }
  return [...seen.values()];
}

const total = (combinations: readonly Combination[], group = 0) =>
  combinations.reduce((sum, { counts }) => sum + (counts[group] ?? 0), 0);
const byText = (segments: readonly Segment[]) => segments.map((each) => JSON.stringify(each)).sort();

test("a basket has every segment with its share of the rows, with the counts of the rows, and no other", () => {
  fc.assert(
    fc.property(combinationsOf(1), fc.double({ min: 0, max: 1, noNaN: true }), (combinations, threshold) => {
      const least = total(combinations) * threshold;
      const expected = everySegment(combinations).filter(
        ({ counts: [count = 0] }) => count > 0 && count >= least,
      );
      const found = basket(combinations, { threshold, maxDimensions: 8 });
      expect(byText(found)).toEqual(byText(expected));
    }),
  );
});

describe("autocluster", () => {
  test("answers segments of which each has a twentieth of the rows and a count that is right", () => {
    fc.assert(
      fc.property(combinationsOf(1), fc.double({ min: 0, max: 1, noNaN: true }), (combinations, weight) => {
        const every = new Set(byText(everySegment(combinations)));
        for (const segment of autocluster(combinations, weight)) {
          expect(every.has(JSON.stringify(segment))).toBe(true);
          expect(segment.counts[0] ?? 0).toBeGreaterThanOrEqual(total(combinations) / 20);
        }
      }),
    );
  });

  test("finds what most failures have in common before what a few have", () => {
    const combinations = [
      { values: ["api", "eu", "timeout"], counts: [700] },
      { values: ["api", "us", "timeout"], counts: [20] },
      { values: ["shop", "us", "refused"], counts: [200] },
      { values: ["pay", "us", "refused"], counts: [80] },
    ];
    const [first, second] = autocluster(combinations, 0.5);
    expect(first).toEqual({ values: ["api", "eu", "timeout"], counts: [700] });
    expect(second?.values[2]).toBe("refused");
  });
});

describe("diffpatterns", () => {
  test("answers segments whose shares differ by the threshold at least among what is left, greatest difference first", () => {
    fc.assert(
      fc.property(combinationsOf(2), (combinations) => {
        const every = new Set(byText(everySegment(combinations)));
        const totals = [total(combinations, 0), total(combinations, 1)];
        const difference = ({ counts: [a = 0, b = 0] }: Segment) =>
          Math.abs(a / (totals[0] || 1) - b / (totals[1] || 1));
        const found = diffPatterns(combinations, { threshold: 0.1, maxDimensions: 8 });
        for (const segment of found) expect(every.has(JSON.stringify(segment))).toBe(true);
        const first = found[0];
        const most = Math.max(0, ...everySegment(combinations).map(difference));
        if (most > 0.2) expect(first === undefined ? 0 : difference(first)).toBeGreaterThan(0.1);
        expect(found.map(difference)).toEqual(found.map(difference).toSorted((a, b) => b - a));
      }),
    );
  });

  test("says what sets the bad hour apart, and nothing that both have", () => {
    const combinations = [
      { values: ["api", "v1"], counts: [500, 480] },
      { values: ["api", "v2"], counts: [10, 400] },
      { values: ["shop", "v1"], counts: [490, 120] },
    ];
    const [first] = diffPatterns(combinations, { threshold: 0.05, maxDimensions: 8 });
    expect(first).toEqual({ values: ["api", "v2"], counts: [10, 400] });
    expect(
      diffPatterns([{ values: ["api"], counts: [10, 10] }], { threshold: 0.05, maxDimensions: 8 }),
    ).toEqual([]);
  });
});
