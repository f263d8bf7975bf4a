/** What rules find, said by counting around each single entry: the definition that evaluation in buckets is held to. */
import fc from "fast-check";
import type { BucketSum } from "../../../src/rules/evaluation/bucket-sums.ts";
import type { Stretch } from "../../../src/rules/evaluation/stretches.ts";
import type { Threshold } from "../../../src/rules/evaluation/threshold.ts";

/** Windows whose length is, and is not, a multiple of their buckets, on both sides of where these change. */
export const windowMs = fc
  .oneof(fc.constantFrom(30, 45, 60, 300, 899, 900, 901, 3600), fc.integer({ min: 30, max: 1000 }))
  .map((seconds) => seconds * 1000);

/** Event times within some windows, many of them equal, at the edges of buckets and of windows, or a millisecond beside. */
export function eventTimes(windowMs: number, maxLength = 60): fc.Arbitrary<number[]> {
  const bucketMs = windowMs <= 900_000 ? 10_000 : 60_000;
  const anywhere = fc.integer({ min: 0, max: 5 * windowMs });
  const onGrid = fc
    .tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 4 }), fc.integer({ min: -1, max: 1 }))
    .map(([buckets, windows, beside]) => Math.max(0, buckets * bucketMs + windows * windowMs + beside));
  const burst = fc
    .tuple(
      fc.oneof(anywhere, onGrid),
      fc.array(fc.constantFrom(0, 0, 1, 999, bucketMs - 1), { maxLength: 8 }),
    )
    .map(([start, gaps]) => gaps.map((gap) => start + gap));
  return fc
    .array(
      fc.oneof(
        anywhere.map((at) => [at]),
        onGrid.map((at) => [at]),
        burst,
      ),
      { maxLength },
    )
    .map((bursts) => bursts.flat());
}

/** The sums of the buckets; the times of first and last where `isEdgeKnown` says so. */
export function bucketSums(
  times: readonly number[],
  bucketMs: number,
  isEdgeKnown: (startMs: number) => boolean,
): BucketSum[] {
  const byStart = Map.groupBy(times, (at) => Math.floor(at / bucketMs) * bucketMs);
  return [...byStart].map(([startMs, own]) => ({
    startMs,
    n: own.length,
    ...(isEdgeKnown(startMs) ? { firstMs: Math.min(...own), lastMs: Math.max(...own) } : {}),
  }));
}

/** The times at which at least `threshold` entries lie in (t - window, t]. */
function truePoints({ threshold, windowMs }: Threshold, times: readonly number[]): number[] {
  const distinct = [...new Set(times)].sort((left, right) => left - right);
  return distinct.filter((t) => times.filter((at) => at > t - windowMs && at <= t).length >= threshold);
}

/** True points, each with what is said of the bucket it lies in, joined where they are closer than a window. */
export function stretchesOf(rule: Threshold, times: readonly number[], bucketMs: number): Stretch[] {
  const { threshold, windowMs } = rule;
  const startOf = (at: number): number => Math.floor(at / bucketMs) * bucketMs;
  const found: Stretch[] = [];
  for (const point of truePoints(rule, times)) {
    const endMs = startOf(point) + bucketMs;
    const before = times.filter((at) => at < endMs).sort((left, right) => right - left);
    const whole = times.filter((at) => startOf(at) >= endMs - windowMs && at < endMs).length;
    const untilMs = startOf(before[threshold - 1] ?? 0) + bucketMs + windowMs;
    const last = found.at(-1);
    if (last === undefined || point - last.toMs >= windowMs)
      found.push({ fromMs: point, toMs: point, untilMs, peak: Math.max(threshold, whole) });
    else
      found[found.length - 1] = {
        fromMs: last.fromMs,
        toMs: point,
        untilMs: Math.max(last.untilMs, untilMs),
        peak: Math.max(last.peak, whole),
      };
  }
  return found;
}
