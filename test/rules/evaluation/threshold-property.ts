/** The property that the test of thresholds samples and its proof repeats at length. */
import { expect } from "bun:test";
import fc from "fast-check";
import {
  BucketSums,
  bucketMsOf,
  countedSpan,
  touchedSpans,
} from "../../../src/rules/evaluation/bucket-sums.ts";
import { addPoints, type Episode } from "../../../src/rules/evaluation/episodes.ts";
import type { Stretch } from "../../../src/rules/evaluation/stretches.ts";
import { type Threshold, thresholdStretches, timesNeeded } from "../../../src/rules/evaluation/threshold.ts";
import { bucketSums, eventTimes, stretchesOf, windowMs } from "./brute-force.ts";

const threshold = fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 60 }));

/** What is asked of the store: each time only of the spans that evaluation says it needs. */
export function evaluate(
  rule: Threshold,
  times: readonly number[],
  points: { readonly fromMs: number; readonly toMs: number },
  isEdgeKnown: (startMs: number) => boolean,
): Stretch[] {
  const counted = countedSpan(points, rule.windowMs);
  const known = times.filter((at) => at >= counted.fromMs && at < counted.toMs);
  const sums = new BucketSums(bucketSums(known, bucketMsOf(rule.windowMs), isEdgeKnown));
  const needed = timesNeeded(rule, sums, points);
  const told = known.filter((at) => needed.some(({ fromMs, toMs }) => at >= fromMs && at < toMs));
  return thresholdStretches(
    rule,
    sums,
    points,
    told.map((atMs) => ({ atMs, n: 1 })),
  );
}

/** Applies what is said to become of the episodes; the ids are those of a table. */
export function applied(
  recorded: readonly Episode[],
  changes: ReturnType<typeof addPoints>,
  nextId: () => number,
): Episode[] {
  const episodes = new Map(recorded.map((episode) => [episode.id, episode]));
  for (const change of changes) {
    if (change.kind === "opened") {
      const id = nextId();
      episodes.set(id, { ...change.episode, id });
    } else if (change.kind === "merged" || change.episode === null) episodes.delete(change.id);
    else episodes.set(change.id, { ...change.episode, id: change.id });
  }
  return [...episodes.values()];
}

export function withoutIds(episodes: readonly Stretch[]): Stretch[] {
  return episodes
    .map(({ fromMs, toMs, untilMs, peak }) => ({ fromMs, toMs, untilMs, peak }))
    .sort((left, right) => left.fromMs - right.fromMs);
}

/** All at once, with the times of the first and the last of a bucket known of some. */
export const countsAsEachEntryDoes = fc.property(
  windowMs.chain((window) => fc.record({ windowMs: fc.constant(window), times: eventTimes(window) })),
  threshold,
  fc.func(fc.boolean()),
  ({ windowMs, times }, threshold, isEdgeKnown) => {
    const rule = { threshold, windowMs };
    const bucketMs = bucketMsOf(windowMs);
    const points = { fromMs: 0, toMs: Math.ceil((Math.max(0, ...times) + 1) / bucketMs) * bucketMs };
    expect(evaluate(rule, times, points, isEdgeKnown)).toEqual(stretchesOf(rule, times, bucketMs));
  },
);

/** In pieces, in any order, some of them again, each time only the touched windows. */
export const ignoresTheOrderOfArrival = fc.property(
  windowMs
    .chain((window) => fc.tuple(fc.constant(window), eventTimes(window, 25)))
    .chain(([windowMs, times]) =>
      fc.record({
        windowMs: fc.constant(windowMs),
        arrivals: fc.shuffledSubarray(times, { minLength: times.length }),
        pieces: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 10 }),
      }),
    ),
  threshold,
  fc.func(fc.boolean()),
  ({ windowMs, arrivals, pieces }, threshold, isEdgeKnown) => {
    const rule = { threshold, windowMs };
    const bucketMs = bucketMsOf(windowMs);
    let episodes: Episode[] = [];
    let ids = 0;
    for (let at = 0, piece = 0; at < arrivals.length; piece++) {
      const next = at + (pieces[piece % pieces.length] ?? 1);
      const stored = arrivals.slice(0, next);
      const changed = arrivals.slice(at, next).map((time) => Math.floor(time / bucketMs) * bucketMs);
      for (const points of touchedSpans(changed, windowMs)) {
        const found = evaluate(rule, stored, points, isEdgeKnown);
        const changes = addPoints(episodes, found, windowMs);
        // More entries take nothing away.
        expect(changes.filter(({ kind }) => kind === "corrected")).toEqual([]);
        episodes = applied(episodes, changes, () => ++ids);
        expect(addPoints(episodes, found, windowMs)).toEqual([]);
      }
      at = next;
    }
    expect(withoutIds(episodes)).toEqual(stretchesOf(rule, arrivals, bucketMs));
  },
);
