import { type BucketSum, type BucketSums, bucketMsOf, joinedSpans, type TimeSpan } from "./bucket-sums.ts";
import { joinedStretches, type Stretch } from "./stretches.ts";

/**
 * Where the entries of (t - window, t] are at least `threshold` many, in event time in whole milliseconds. Such a t is a true
 * point where an entry stands at it. Exactly what counting around each single entry would say, but from sums of buckets: one
 * whose windows cannot hold enough has no true point, one whose windows hold enough wherever they end has nothing but true
 * points, and only around those between the times of single entries are asked for.
 */
export interface Threshold {
  readonly threshold: number;
  readonly windowMs: number;
}

/** How many entries have an event time. */
interface TimedCount {
  readonly atMs: number;
  readonly n: number;
}

/** Which moments may be true points, where not all may; sums of buckets do not tell then. */
type IsPoint = ((atMs: number) => boolean) | null;

/** Buckets in which points are looked for, and what is known of each. */
interface Judged {
  readonly bucket: BucketSum;
  /** True points are all of its entries, or those of which exact times say so. */
  readonly isCertain: boolean;
  /** Its true points lie between those of others that are closer than a window: when exactly says nothing. */
  readonly isInner: boolean;
}

/**
 * The spans, in whole buckets, of which `thresholdStretches` must be told every entry's time: first the sums, then these, and
 * nothing further. `sums` are of `countedSpan(points)`, of which `points` are whole buckets, too.
 */
export function timesNeeded(
  rule: Threshold,
  sums: BucketSums,
  points: TimeSpan,
  isPoint: IsPoint = null,
): TimeSpan[] {
  const bucketMs = bucketMsOf(rule.windowMs);
  const needed = judge(rule, sums, points, isPoint).flatMap(({ bucket, isCertain, isInner }) => {
    if (!isCertain) return [bucket, ...edgeBuckets(rule, sums, bucket)];
    return isInner || areEdgesKnown(bucket) ? [] : [bucket];
  });
  return joinedSpans(needed.map(({ startMs }) => ({ fromMs: startMs, toMs: startMs + bucketMs })));
}

/**
 * The true points in `points`, those closer to each other than a window as one stretch. `peak` is the largest count of a
 * window that ends where a bucket does, or the threshold; `untilMs` the end of the bucket that holds the entry with whose
 * leaving the window the count falls below the threshold, plus the window: never too early, and at most a bucket too late.
 *
 * Throws when the times are not those of as many entries as the sums: then they were not read of the same entries.
 */
export function thresholdStretches(
  rule: Threshold,
  sums: BucketSums,
  points: TimeSpan,
  times: readonly TimedCount[],
  isPoint: IsPoint = null,
): Stretch[] {
  const { threshold, windowMs } = rule;
  const bucketMs = bucketMsOf(windowMs);
  const byBucket = timesByBucket(times, bucketMs);
  const found: Stretch[] = [];
  for (const { bucket, isCertain, isInner } of judge(rule, sums, points, isPoint)) {
    const span = isCertain
      ? certainSpan(bucket, isInner, byBucket, bucketMs)
      : exactSpan(rule, sums, bucket, byBucket, isPoint);
    if (span === null) continue;
    const endMs = bucket.startMs + bucketMs;
    found.push({
      ...span,
      untilMs: sums.nthLast(threshold, endMs) + bucketMs + windowMs,
      peak: Math.max(threshold, sums.count(endMs - windowMs, endMs)),
    });
  }
  return joinedStretches(found, windowMs);
}

/** The buckets of the span that may hold a true point, in their order. */
function judge(
  { threshold, windowMs }: Threshold,
  sums: BucketSums,
  points: TimeSpan,
  isPoint: IsPoint,
): Judged[] {
  const bucketMs = bucketMsOf(windowMs);
  const possible = sums.between(points.fromMs, points.toMs).flatMap((bucket) => {
    const { startMs } = bucket;
    const touched = sums.count(startMs - windowMs - bucketMs + 1, startMs + bucketMs);
    if (touched < threshold) return [];
    // The entry at the point counts itself.
    const isHeld = sums.count(startMs + bucketMs - windowMs, startMs) + 1 >= threshold;
    return [{ bucket, isCertain: isPoint === null && isHeld }];
  });
  const certain = possible.filter(({ isCertain }) => isCertain);
  const areClose = (one: { bucket: BucketSum } | undefined, other: { bucket: BucketSum } | undefined) =>
    one !== undefined &&
    other !== undefined &&
    other.bucket.startMs + bucketMs - one.bucket.startMs <= windowMs;
  const inner = new Set(
    certain.filter((one, i) => areClose(certain[i - 1], one) && areClose(one, certain[i + 1])),
  );
  return possible.map((one) => ({ ...one, isInner: inner.has(one) }));
}

/** Those that a window which ends in the bucket may begin in. */
function edgeBuckets(
  { windowMs }: Threshold,
  sums: BucketSums,
  { startMs }: BucketSum,
): readonly BucketSum[] {
  const bucketMs = bucketMsOf(windowMs);
  return sums.between(startMs - windowMs - bucketMs + 1, startMs - windowMs + bucketMs);
}

function areEdgesKnown({ firstMs, lastMs }: BucketSum): boolean {
  return firstMs !== undefined && lastMs !== undefined;
}

type TimesByBucket = ReadonlyMap<number, readonly TimedCount[]>;

function certainSpan(
  bucket: BucketSum,
  isInner: boolean,
  byBucket: TimesByBucket,
  bucketMs: number,
): { readonly fromMs: number; readonly toMs: number } {
  const { startMs, firstMs, lastMs } = bucket;
  if (isInner) return { fromMs: startMs, toMs: startMs + bucketMs - 1 };
  if (firstMs !== undefined && lastMs !== undefined) return { fromMs: firstMs, toMs: lastMs };
  const times = timesOf(bucket, byBucket);
  return { fromMs: times[0]?.atMs ?? startMs, toMs: times.at(-1)?.atMs ?? startMs };
}

/** The first and the last true point of a bucket; null when it has none. */
function exactSpan(
  rule: Threshold,
  sums: BucketSums,
  bucket: BucketSum,
  byBucket: TimesByBucket,
  isPoint: IsPoint,
): { readonly fromMs: number; readonly toMs: number } | null {
  const { threshold, windowMs } = rule;
  const leaving = edgeBuckets(rule, sums, bucket).flatMap((edge) => timesOf(edge, byBucket));
  const endMs = bucket.startMs + bucketMsOf(windowMs);
  let count = sums.count(endMs - windowMs, bucket.startMs) + leaving.reduce((total, { n }) => total + n, 0);
  let left = 0;
  let fromMs: number | null = null;
  let toMs = 0;
  for (const { atMs, n } of timesOf(bucket, byBucket)) {
    count += n;
    for (let edge = leaving[left]; edge !== undefined && edge.atMs <= atMs - windowMs; edge = leaving[++left])
      count -= edge.n;
    if (count < threshold || isPoint?.(atMs) === false) continue;
    fromMs ??= atMs;
    toMs = atMs;
  }
  return fromMs === null ? null : { fromMs, toMs };
}

function timesOf({ startMs, n }: BucketSum, byBucket: TimesByBucket): readonly TimedCount[] {
  const times = byBucket.get(startMs) ?? [];
  const told = times.reduce((total, time) => total + time.n, 0);
  if (told !== n)
    throw new Error(`the bucket at ${startMs} holds ${n} entries and the times of ${told} were given`);
  return times;
}

/** Each bucket's times in ascending order, each once. */
function timesByBucket(times: readonly TimedCount[], bucketMs: number): TimesByBucket {
  const byBucket = new Map<number, TimedCount[]>();
  for (const time of times.toSorted((left, right) => left.atMs - right.atMs)) {
    const startMs = Math.floor(time.atMs / bucketMs) * bucketMs;
    const known = byBucket.get(startMs) ?? [];
    const last = known.at(-1);
    if (last?.atMs === time.atMs) known[known.length - 1] = { atMs: last.atMs, n: last.n + time.n };
    else known.push(time);
    byBucket.set(startMs, known);
  }
  return byBucket;
}
