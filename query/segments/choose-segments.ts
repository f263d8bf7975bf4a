import { type Combination, covers, fixedDimensions, type Segment, totalsOf } from "./combination.ts";
import { frequentSegments } from "./frequent-segments.ts";

/** Segments of an answer: what a person looks through. */
const SEGMENTS_MAX = 20;
/** A segment with a smaller share of the rows says little about them. */
const SHARE_MIN = 0.05;
const DIMENSIONS_MAX = 8;
/** A segment that says more is as good as one whose difference is by so much greater. */
const AS_GOOD = 0.95;

/**
 * A few segments that together say most of what rows have in common, most rows first. `sizeWeight` from 0 to 1 says how much
 * the number of rows counts against the number of values that they have in common.
 */
export function autocluster(combinations: readonly Combination[], sizeWeight: number): Segment[] {
  const [total = 0] = totalsOf(combinations, 1);
  const isFrequent = ([count = 0]: readonly number[]): boolean => count > 0 && count >= total * SHARE_MIN;
  const candidates = frequentSegments(combinations, { isFrequent, maxDimensions: DIMENSIONS_MAX });
  const chosen = choose(candidates, combinations, (segment, counts) => {
    if (!isFrequent(counts)) return 0;
    const said = fixedDimensions(segment) / segment.values.length;
    return ((counts[0] ?? 0) / total) ** sizeWeight * said ** (1 - sizeWeight);
  });
  return chosen.sort((left, right) => (right.counts[0] ?? 0) - (left.counts[0] ?? 0));
}

/** All segments with at least a share of the rows, from 0 to 1, most rows first. */
export function basket(
  combinations: readonly Combination[],
  { threshold, maxDimensions }: DiffOptions,
): Segment[] {
  const [total = 0] = totalsOf(combinations, 1);
  const isFrequent = ([count = 0]: readonly number[]): boolean => count > 0 && count >= total * threshold;
  const found = frequentSegments(combinations, { isFrequent, maxDimensions });
  return found.sort((left, right) => (right.counts[0] ?? 0) - (left.counts[0] ?? 0));
}

interface DiffOptions {
  /** From 0 to 1. */
  readonly threshold: number;
  readonly maxDimensions: number;
}

/**
 * Segments whose share of the rows of one side is by `threshold` another than of the other side, greatest difference first;
 * each of what those before it leave. Counts are those of the first and of the second side.
 */
export function diffPatterns(
  combinations: readonly Combination[],
  { threshold, maxDimensions }: DiffOptions,
): Segment[] {
  const [first = 0, second = 0] = totalsOf(combinations, 2);
  const shares = ([a = 0, b = 0]: readonly number[]): [number, number] => [
    first === 0 ? 0 : a / first,
    second === 0 ? 0 : b / second,
  ];
  const difference = (counts: readonly number[]): number => {
    const [a, b] = shares(counts);
    return Math.abs(a - b);
  };
  const isFrequent = (counts: readonly number[]): boolean => {
    const share = Math.max(...shares(counts));
    return share > 0 && share >= threshold;
  };
  const candidates = frequentSegments(combinations, { isFrequent, maxDimensions });
  const chosen = choose(candidates, combinations, (segment, counts) => {
    const found = difference(counts);
    // What says more goes before what differs a little more.
    return found >= threshold ? found / AS_GOOD ** fixedDimensions(segment) : 0;
  });
  return chosen.sort((left, right) => difference(right.counts) - difference(left.counts));
}

/** Takes the best segment by what it counts of the rows that those before it leave, as long as one has a score above 0. */
function choose(
  candidates: readonly Segment[],
  combinations: readonly Combination[],
  score: (segment: Segment, counts: readonly number[]) => number,
): Segment[] {
  const groups = combinations[0]?.counts.length ?? 0;
  const covered = candidates.map((segment) =>
    combinations.filter((combination) => covers(segment, combination)),
  );
  const left = new Set(combinations);
  const chosen: Segment[] = [];
  while (chosen.length < SEGMENTS_MAX && left.size > 0) {
    let best = -1;
    let bestScore = 0;
    for (const [i, segment] of candidates.entries()) {
      const rows = (covered[i] ?? []).filter((combination) => left.has(combination));
      const found = score(segment, totalsOf(rows, groups));
      if (found > bestScore) [best, bestScore] = [i, found];
    }
    const taken = candidates[best];
    if (taken === undefined) break;
    chosen.push(taken);
    for (const combination of covered[best] ?? []) left.delete(combination);
  }
  return chosen;
}
