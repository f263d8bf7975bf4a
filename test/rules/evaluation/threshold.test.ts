/** Thresholds over sliding windows, from sums of buckets, against counting around each single entry. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { BucketSums, touchedSpans } from "../../../src/rules/evaluation/bucket-sums.ts";
import { thresholdStretches, timesNeeded } from "../../../src/rules/evaluation/threshold.ts";
import { countsAsEachEntryDoes, evaluate, ignoresTheOrderOfArrival } from "./threshold-property.ts";

const RULE = { threshold: 3, windowMs: 30_000 };
const POINTS = { fromMs: 0, toMs: 120_000 };

test("finds the points that counting around each entry finds", () => {
  fc.assert(countsAsEachEntryDoes, { numRuns: 1500 });
});

test("ends in the same episodes in whatever order and pieces entries come", () => {
  fc.assert(ignoresTheOrderOfArrival, { numRuns: 1000 });
});

test("a window is open at its beginning: an entry exactly a window ago does not count", () => {
  const at = (third: number) => evaluate(RULE, [5000, 20_000, third], POINTS, () => false);
  expect(at(34_999).map(({ fromMs }) => fromMs)).toEqual([34_999]);
  expect(at(35_000)).toEqual([]);
});

test("asks for no times where the sums decide", () => {
  const few = new BucketSums([{ startMs: 0, n: 2 }]);
  expect(timesNeeded(RULE, few, POINTS)).toEqual([]);
  const many = new BucketSums(
    Array.from({ length: 12 }, (_, i) => ({
      startMs: i * 10_000,
      n: 3,
      firstMs: i * 10_000,
      lastMs: i * 10_000 + 9,
    })),
  );
  // Where the first bucket begins to hold enough is between its entries.
  expect(timesNeeded(RULE, many, POINTS)).toEqual([{ fromMs: 0, toMs: 10_000 }]);
  const inTheMiddle = { fromMs: 30_000, toMs: 120_000 };
  expect(timesNeeded(RULE, many, inTheMiddle)).toEqual([]);
  expect(thresholdStretches(RULE, many, inTheMiddle, [])).toEqual([
    { fromMs: 30_000, toMs: 110_009, untilMs: 150_000, peak: 9 },
  ]);
});

test("a window of a day asks for two minutes, whatever it holds between", () => {
  const rule = { threshold: 1600, windowMs: 86_400_000 };
  const sums = new BucketSums(
    Array.from({ length: 1441 }, (_, i) => ({ startMs: i * 60_000, n: i === 1440 ? 300 : 1 })),
  );
  const points = { fromMs: 86_400_000, toMs: 86_460_000 };
  expect(timesNeeded(rule, sums, points)).toEqual([
    { fromMs: 0, toMs: 60_000 },
    { fromMs: 86_400_000, toMs: 86_460_000 },
  ]);
});

test("times that were read of other entries than the sums are refused", () => {
  const sums = new BucketSums([{ startMs: 0, n: 3 }]);
  const times = [{ atMs: 5, n: 2 }];
  expect(() => thresholdStretches(RULE, sums, POINTS, times)).toThrow("holds 3 entries and the times of 2");
});

test("new entries touch the windows they lie in, and buckets side by side are one span", () => {
  expect(touchedSpans([20_000, 10_000, 500_000], 45_000)).toEqual([
    { fromMs: 10_000, toMs: 80_000 },
    { fromMs: 500_000, toMs: 560_000 },
  ]);
});
