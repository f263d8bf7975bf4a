import { type Anomaly, judgeWindows, unusualStretches, type Verdict } from "../evaluation/anomaly.ts";
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

/** Where the points are whose windows changed buckets reach into. */
export function reachedSpan({ fromMs, toMs }: TimeSpan, windowMs: number): TimeSpan {
  const bucketMs = bucketMsOf(windowMs);
  return { fromMs, toMs: toMs + Math.ceil(windowMs / bucketMs) * bucketMs };
}

/** The true points of a threshold in spans of whole buckets. */
export async function findThreshold(
  rule: Threshold,
  spans: readonly TimeSpan[],
  source: CountsSource,
): Promise<Found> {
  const groups = new Map<string, Stretch[]>();
  let isCut = false;
  let groupsAtOnce = 0;
  for (const points of spans) {
    const reading = await source.sums(countedSpan(points, rule.windowMs), rule.threshold);
    isCut ||= reading.isCut;
    groupsAtOnce = Math.max(groupsAtOnce, reading.groupsAtOnce);
    const sums = new Map([...reading.groups].map(([group, pieces]) => [group, new BucketSums(pieces)]));
    const needed = new Map([...sums].map(([group, each]) => [group, timesNeeded(rule, each, points)]));
    const spansNeeded = joinedSpans([...needed.values()].flat());
    const times = spansNeeded.length === 0 ? [] : await source.times(spansNeeded, reading);
    const timesOf = Map.groupBy(times, ({ group }) => group);
    for (const [group, each] of sums) {
      const isNeeded = (atMs: number): boolean =>
        needed.get(group)?.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs) ?? false;
      const pieces = (reading.groups.get(group) ?? []).filter(({ startMs }) => isNeeded(startMs));
      const own = (timesOf.get(group) ?? []).filter(({ atMs }) => isNeeded(atMs));
      const found = thresholdStretches(rule, each, points, timesOfSums(pieces, own, rule.windowMs));
      if (found.length > 0) groups.set(group, [...(groups.get(group) ?? []), ...found]);
    }
  }
  return {
    groups: new Map([...groups].map(([group, found]) => [group, joinedStretches(found, rule.windowMs)])),
    ...{ isCut, groupsAtOnce },
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
  sinceMs: number,
  isLeftOut: (startMs: number) => boolean,
  source: Pick<CountsSource, "sums">,
): Promise<{ readonly unusual: readonly Unusual[]; readonly verdicts: readonly Verdict[] }> {
  const before = Math.floor((fromMs - rule.baselineMs) / rule.windowMs) * rule.windowMs;
  const { groups } = await source.sums({ fromMs: before, toMs }, 1);
  const counts = new Map((groups.get("") ?? []).map(({ startMs, n }) => [startMs, n]));
  const verdicts = judgeWindows(rule, { counts, sinceMs }, { fromMs, toMs }, isLeftOut);
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
