import type { Counter } from "../counters/counter-store.ts";
import { GROUPS_MAX_OF_SEAL } from "../counters/limits.ts";
import type { Anomaly } from "../evaluation/anomaly.ts";
import type { TimeSpan } from "../evaluation/bucket-sums.ts";
import type { Threshold } from "../evaluation/threshold.ts";
import { conditionOf, type RuleDefinition } from "./definition.ts";
import {
  type CountsSource,
  changedPoints,
  findAnomaly,
  findThreshold,
  type RuleStart,
  withFirstApart,
} from "./find-stretches.ts";
import { ROWS_MAX_READ, WINDOWS_MAX_JUDGED } from "./limits.ts";
import type { StoredEpisode } from "./live-store.ts";
import type { Findings, GroupFinding, Moment } from "./rule-finder.ts";
import { explainThreshold } from "./tell.ts";

/** What came and what is known when a rule is evaluated that asks for counts. */
interface CountedMoment extends Moment {
  /** Episodes of a rule whose baseline leaves them out. */
  readonly recorded: readonly StoredEpisode[];
}

const WHAT_TO_DO = "Group by a field with fewer values, or let the rule count fewer entries.";
const TOO_MANY_READ = `It has more groups than are looked at, ${ROWS_MAX_READ} counts of them: those with fewer entries are left out. ${WHAT_TO_DO}`;

/** What the owner of a rule has to know of groups that were not looked at by themselves; null for nothing. */
function noteOfGroups(groupsAtOnce: number, isCut: boolean): string | null {
  if (groupsAtOnce === 0) return isCut ? TOO_MANY_READ : null;
  return `There were ${groupsAtOnce} groups at once. The ${GROUPS_MAX_OF_SEAL} with most entries are told apart, the others are one, "(other)". ${WHAT_TO_DO}`;
}

/** By the kind of its condition. */
export function findLive(
  definition: RuleDefinition,
  counter: Counter,
  at: CountedMoment,
  source: CountsSource,
  start: RuleStart,
): Promise<Findings> {
  const condition = conditionOf(definition);
  return condition.kind === "threshold"
    ? findWhereReached(definition, condition, counter, at, source, start)
    : findWhereUnusual(condition, counter, at, source, start);
}

async function findWhereReached(
  definition: RuleDefinition,
  condition: Threshold,
  { bucketSec, pastFromMs }: Counter,
  { spans }: CountedMoment,
  source: CountsSource,
  start: RuleStart,
): Promise<Findings> {
  const bucketMs = bucketSec * 1000;
  // From when on the window before a point is counted, which is the bucket in which the rule was made.
  const sinceMs = (pastFromMs ?? 0) + Math.ceil(condition.windowMs / bucketMs) * bucketMs;
  const { windowMs } = condition;
  const points = withFirstApart(changedPoints(spans, windowMs, sinceMs), windowMs, start.madeMs);
  const { groups, isCut, groupsAtOnce } = await findThreshold(condition, points, source, start);
  const found = new Map<string, GroupFinding>(
    [...groups].map(([group, stretches]) => {
      const peaks = new Map(stretches.map(({ fromMs, peak }) => [fromMs, peak]));
      const because = (fromMs: number): string =>
        explainThreshold(definition, condition.threshold, peaks.get(fromMs) ?? condition.threshold);
      return [group, { stretches, because, wholeFromMs: null, judgedMs: null, nextMs: null }];
    }),
  );
  return { groups: found, note: noteOfGroups(groupsAtOnce, isCut), noteForMs: condition.windowMs };
}

/**
 * An episode that goes on up to a window, or through it, is judged again from its beginning: else its first windows would be taken for usual
 * ones, and its peak and its end would stay those of windows that are not unusual any more. Not one that is very long, or others would never be judged.
 */
function wholeEpisodesFrom(fromMs: number, recorded: readonly StoredEpisode[], windowMs: number): number {
  const leastMs = fromMs - (WINDOWS_MAX_JUDGED / 2) * windowMs;
  const begun = recorded.filter((episode) => episode.fromMs < fromMs && episode.toMs >= fromMs);
  return Math.min(fromMs, ...begun.map((episode) => episode.fromMs).filter((atMs) => atMs >= leastMs));
}

/** The window that the rule was made in, where it is among these and all that it holds came before: too many in it are nothing new. */
async function oldWindow(
  { windowMs }: Anomaly,
  { fromMs, toMs }: TimeSpan,
  { madeMs, since }: RuleStart,
): Promise<number | null> {
  const firstMs = Math.floor(madeMs / windowMs) * windowMs;
  if (firstMs === madeMs || firstMs < fromMs || firstMs >= toMs) return null;
  const counts = await since({ fromMs: firstMs, toMs: firstMs + windowMs });
  return counts.length === 0 ? firstMs : null;
}

/** Windows are judged when they are over, and again when something comes to one late. */
async function findWhereUnusual(
  condition: Anomaly,
  counter: Counter,
  { spans, kept, recorded, throughMs }: CountedMoment,
  source: CountsSource,
  start: RuleStart,
): Promise<Findings> {
  const { windowMs, baselineMs } = condition;
  const startOf = (atMs: number): number => Math.floor(atMs / windowMs) * windowMs;
  const countedMs = counter.pastFromMs ?? 0;
  const sinceMs = Math.ceil((countedMs + baselineMs) / windowMs) * windowMs;
  const judgedMs = kept.get("")?.judgedMs ?? sinceMs;
  const changedMs = Math.max(sinceMs, Math.min(judgedMs, ...spans.map((span) => startOf(span.fromMs))));
  const fromMs = wholeEpisodesFrom(changedMs, recorded, windowMs);
  const endMs = Math.max(judgedMs, startOf(throughMs));
  const toMs = Math.min(endMs, fromMs + WINDOWS_MAX_JUDGED * windowMs);
  const isLeftOut = (startMs: number): boolean =>
    recorded.some((episode) => startMs < fromMs && startMs >= episode.fromMs && startMs < episode.toMs);
  const judged = { fromMs, toMs };
  const series = { sinceMs: countedMs, oldMs: await oldWindow(condition, judged, start) };
  const { unusual } = await findAnomaly(condition, judged, series, isLeftOut, source);
  const reasons = new Map(unusual.map((each) => [each.fromMs, each.because]));
  const finding: GroupFinding = {
    stretches: unusual,
    because: (atMs) => reasons.get(atMs) ?? "Windows are not as usual.",
    wholeFromMs: fromMs,
    judgedMs: toMs,
    nextMs: toMs < endMs ? toMs : toMs + windowMs,
  };
  return { groups: new Map([["", finding]]), note: null };
}
