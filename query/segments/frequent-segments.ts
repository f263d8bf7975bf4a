import type { Combination, Segment } from "./combination.ts";

/** Segments of one number of dimensions that are looked at: those of more are made of them. */
const LEVEL_MAX = 250;

interface FrequentOptions {
  /** Whether a segment with these counts, by group, is frequent; one that says less is at least as much so. */
  readonly isFrequent: (counts: readonly number[]) => boolean;
  readonly maxDimensions: number;
}

/**
 * The segments that are frequent, with counts over all combinations: level by level, as Apriori does (Agrawal and Srikant,
 * 1994), since every part of a frequent segment is frequent. Where there are too many of a level the most frequent go on.
 */
export function frequentSegments(
  combinations: readonly Combination[],
  { isFrequent, maxDimensions }: FrequentOptions,
): Segment[] {
  const dimensions = combinations[0]?.values.length ?? 0;
  const found: Segment[] = [];
  let level: Segment[] = [{ values: Array.from({ length: dimensions }, () => null), counts: [] }];
  for (let size = 1; size <= Math.min(maxDimensions, dimensions) && level.length > 0; size++) {
    const next = new Map<string, Counted>();
    for (const combination of combinations)
      for (const segment of level) countLonger(segment, combination, next);
    level = [...next.values()]
      .filter(({ counts }) => isFrequent(counts))
      .sort((left, right) => sum(right.counts) - sum(left.counts))
      .slice(0, LEVEL_MAX);
    found.push(...level);
  }
  return found;
}

interface Counted {
  readonly values: readonly (string | null)[];
  readonly counts: number[];
}

/** Counts the combination for each segment that says one dimension more, behind the last that is said: each comes about once. */
function countLonger(segment: Segment, { values, counts }: Combination, next: Map<string, Counted>): void {
  if (!segment.values.every((value, i) => value === null || value === values[i])) return;
  const last = segment.values.findLastIndex((value) => value !== null);
  for (const [i, value] of values.entries()) {
    if (i <= last || value === null) continue;
    const longer = segment.values.with(i, value);
    const key = JSON.stringify(longer);
    const counted = next.get(key) ?? { values: longer, counts: counts.map(() => 0) };
    for (const [group, count] of counts.entries())
      counted.counts[group] = (counted.counts[group] ?? 0) + count;
    next.set(key, counted);
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
