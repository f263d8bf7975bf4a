/** Rows that have the same values: how many of them, and in each of the dimensions a value, or null for one of the others. */
export interface Combination {
  readonly values: readonly (string | null)[];
  /** By the group of rows that is counted: of everything, or of either side of a comparison. */
  readonly counts: readonly number[];
}

/** What rows have in common: a value in some of the dimensions, null where any will do. */
export type Segment = Combination;

/** Whether the rows of a combination are rows of the segment. */
export function covers({ values }: Segment, combination: Combination): boolean {
  return values.every((value, i) => value === null || value === combination.values[i]);
}

/** How many dimensions a segment says something about. */
export function fixedDimensions({ values }: Segment): number {
  return values.filter((value) => value !== null).length;
}

/** The rows of combinations, by group. */
export function totalsOf(combinations: Iterable<Combination>, groups: number): number[] {
  const totals = Array.from({ length: groups }, () => 0);
  for (const { counts } of combinations)
    for (const [group, count] of counts.entries()) totals[group] = (totals[group] ?? 0) + count;
  return totals;
}
