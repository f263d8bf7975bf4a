import type { BucketCount } from "../counters/counter-plan.ts";
import {
  type Anomaly,
  judgeWindows,
  type Series,
  unusualStretches,
  type Verdict,
} from "../evaluation/anomaly.ts";
import {
  type BucketSum,
  BucketSums,
  bucketMsOf,
  countedSpan,
  joinedSpans,
  type TimeSpan,
} from "../evaluation/bucket-sums.ts";
import { explainWindow } from "../evaluation/explain-window.ts";
import { joinedStretches, type Stretch } from "../evaluation/stretches.ts";
import { type Threshold, thresholdStretches, timesNeeded } from "../evaluation/threshold.ts";
import type { SumsReading } from "./read-sums.ts";
import type { GroupTime } from "./read-times.ts";

/** Where the counts of a rule come from: from signals for one that is live, from the entries for one that is tried. */
export interface CountsSource {
  /** Of groups with at least so many entries in the span. */
  readonly sums: (span: TimeSpan, leastEntries: number) => Promise<SumsReading>;
  /** Exact times of the same entries as `reading` tells of. */
  readonly times: (spans: readonly TimeSpan[], reading: SumsReading) => Promise<readonly GroupTime[]>;
}

/** How a rule that is live began. */
export interface RuleStart {
  /** When it was made. */
  readonly madeMs: number;
  /** Of the entries in a span those that came since then, or are from later. */
  readonly since: (span: TimeSpan) => Promise<readonly BucketCount[]>;
}

/** What a rule found: by the names of groups. */
interface Found {
  readonly groups: ReadonlyMap<string, readonly Stretch[]>;
  /** Some groups were not looked at. */
  readonly isCut: boolean;
  /** The most groups that there were at once, where there were more than are told apart; else 0. */
  readonly groupsAtOnce: number;
}

/**
 * Where points of a rule may have changed: the windows that the changed buckets reach into, and nothing before a moment. Of a change
 * that begins within a bucket, as a counter does, from the next one on.
 */
export function changedPoints(changes: readonly TimeSpan[], windowMs: number, sinceMs: number): TimeSpan[] {
  const bucketMs = bucketMsOf(windowMs);
  const ends = (ms: number): number => Math.ceil(ms / bucketMs) * bucketMs;
  return joinedSpans(
    changes
      .map(({ fromMs, toMs }) => reachedSpan({ fromMs: ends(fromMs), toMs: ends(toMs) }, windowMs))
      .map(({ fromMs, toMs }) => ({ fromMs: Math.max(fromMs, sinceMs), toMs }))
      .filter(({ fromMs, toMs }) => fromMs < toMs),
  );
}

/** The same spans, with a bucket in which a rule was made by itself: some of its points are from before the rule. */
export function withFirstApart(spans: readonly TimeSpan[], windowMs: number, madeMs: number): TimeSpan[] {
  const bucketMs = bucketMsOf(windowMs);
  const firstEndMs = Math.ceil(madeMs / bucketMs) * bucketMs;
  return spans.flatMap((span) =>
    span.fromMs < madeMs && span.toMs > firstEndMs
      ? [
          { fromMs: span.fromMs, toMs: firstEndMs },
          { fromMs: firstEndMs, toMs: span.toMs },
        ]
      : [span],
  );
}

/** Where the points are whose windows changed buckets reach into. */
export function reachedSpan({ fromMs, toMs }: TimeSpan, windowMs: number): TimeSpan {
  const bucketMs = bucketMsOf(windowMs);
  return { fromMs, toMs: toMs + Math.ceil(windowMs / bucketMs) * bucketMs };
}

/**
 * The true points of a threshold in spans of whole buckets. Of a rule that is live one from before it is none where all of its window
 * came before as well: that was true already, whatever else comes to its bucket.
 */
export async function findThreshold(
  rule: Threshold,
  spans: readonly TimeSpan[],
  source: CountsSource,
  start: RuleStart | null = null,
): Promise<Found> {
  const groups = new Map<string, Stretch[]>();
  let isCut = false;
  let groupsAtOnce = 0;
  for (const points of spans) {
    const reading = await source.sums(countedSpan(points, rule.windowMs), rule.threshold);
    isCut ||= reading.isCut;
    groupsAtOnce = Math.max(groupsAtOnce, reading.groupsAtOnce);
    const sums = new Map([...reading.groups].map(([group, pieces]) => [group, new BucketSums(pieces)]));
    const isPointOf = await pointsOf(rule, points, sums.size > 0 ? start : null);
    const needed = new Map(
      [...sums].map(([group, each]) => [group, timesNeeded(rule, each, points, isPointOf?.(group))]),
    );
    const spansNeeded = joinedSpans([...needed.values()].flat());
    const times = spansNeeded.length === 0 ? [] : await source.times(spansNeeded, reading);
    const timesOf = Map.groupBy(times, ({ group }) => group);
    for (const [group, each] of sums) {
      const isNeeded = (atMs: number): boolean =>
        needed.get(group)?.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs) ?? false;
      const pieces = (reading.groups.get(group) ?? []).filter(({ startMs }) => isNeeded(startMs));
      const own = (timesOf.get(group) ?? []).filter(({ atMs }) => isNeeded(atMs));
      const exact = timesOfSums(pieces, own, rule.windowMs);
      const found = thresholdStretches(rule, each, points, exact, isPointOf?.(group));
      if (found.length > 0) groups.set(group, [...(groups.get(group) ?? []), ...found]);
    }
  }
  return {
    groups: new Map([...groups].map(([group, found]) => [group, joinedStretches(found, rule.windowMs)])),
    ...{ isCut, groupsAtOnce },
  };
}

/** By the name of a group, which moments may be points of it; null where all may. */
async function pointsOf(
  { windowMs }: Threshold,
  points: TimeSpan,
  start: RuleStart | null,
): Promise<((group: string) => (atMs: number) => boolean) | null> {
  if (start === null || points.fromMs >= start.madeMs) return null;
  const { madeMs } = start;
  const ofGroups = Map.groupBy(await start.since(countedSpan(points, windowMs)), ({ group }) => group);
  return (group) => {
    const times = (ofGroups.get(group) ?? []).flatMap((count) => count.times ?? []);
    // All points are of one bucket and no window is shorter: of any other bucket the last entry tells, and of this one the first.
    return (atMs) =>
      atMs >= madeMs ||
      times.some(({ firstMs, lastMs }) => firstMs <= atMs && Math.min(lastMs, atMs) > atMs - windowMs);
  };
}

/** A window that is unusual, and why. */
interface Unusual extends Stretch {
  readonly because: string;
}

/**
 * Exact times of the entries in the buckets. Where they are not those of the same entries, for others came between the two reads, groups
 * are told of as one, or entries are gone by now, all of a bucket are taken to be at its last: a bucket is all that they are off.
 */
function timesOfSums(
  pieces: readonly BucketSum[],
  times: readonly GroupTime[],
  windowMs: number,
): { readonly atMs: number; readonly n: number }[] {
  const bucketMs = bucketMsOf(windowMs);
  const timesIn = Map.groupBy(times, ({ atMs }) => Math.floor(atMs / bucketMs) * bucketMs);
  return [...Map.groupBy(pieces, ({ startMs }) => startMs)].flatMap(([startMs, sums]) => {
    const own = timesIn.get(startMs) ?? [];
    const n = sums.reduce((total, sum) => total + sum.n, 0);
    if (own.reduce((total, time) => total + time.n, 0) === n) return own;
    return [{ atMs: Math.max(...sums.map(({ lastMs }) => lastMs ?? startMs)), n }];
  });
}

/** What an anomaly rule says of the windows that begin in the span; `isLeftOut` says which are no baseline. */
export async function findAnomaly(
  rule: Anomaly,
  { fromMs, toMs }: TimeSpan,
  { sinceMs, oldMs = null }: Pick<Series, "sinceMs" | "oldMs">,
  isLeftOut: (startMs: number) => boolean,
  source: Pick<CountsSource, "sums">,
): Promise<{ readonly unusual: readonly Unusual[]; readonly verdicts: readonly Verdict[] }> {
  const before = Math.floor((fromMs - rule.baselineMs) / rule.windowMs) * rule.windowMs;
  const { groups } = await source.sums({ fromMs: before, toMs }, 1);
  const counts = new Map((groups.get("") ?? []).map(({ startMs, n }) => [startMs, n]));
  const verdicts = judgeWindows(rule, { counts, sinceMs, oldMs }, { fromMs, toMs }, isLeftOut);
  const byStart = new Map(verdicts.map((verdict) => [verdict.startMs, verdict]));
  const unusual = unusualStretches(rule, verdicts).map((stretch) => {
    const verdict = byStart.get(stretch.fromMs);
    return { ...stretch, because: verdict === undefined ? "" : explainWindow(rule, verdict) };
  });
  return { unusual, verdicts };
}

/** The width of the buckets in which a rule is counted: an anomaly's are its windows. */
export function bucketSecOf(condition: {
  readonly kind: "threshold" | "anomaly";
  readonly windowMs: number;
}): number {
  return (condition.kind === "anomaly" ? condition.windowMs : bucketMsOf(condition.windowMs)) / 1000;
}
