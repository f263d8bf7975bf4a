/** Rows since the bookmark of a column, each run from one to before another, in ascending order. */
export type RowRuns = readonly (readonly [from: number, to: number])[];

/** What is left of `rows` rows without some. */
export function runsWithout(rows: number, dropped: ReadonlySet<number>): RowRuns {
  const runs: [number, number][] = [];
  let from = 0;
  for (const row of [...dropped].toSorted((left, right) => left - right)) {
    if (row > from) runs.push([from, row]);
    from = row + 1;
  }
  if (from < rows) runs.push([from, rows]);
  return runs;
}

/** The runs of elements that belong to runs of rows; `ends` says where those of each row end. */
export function elementRuns(ends: ArrayLike<number>, runs: RowRuns): RowRuns {
  const startOf = (row: number): number => (row === 0 ? 0 : (ends[row - 1] ?? 0));
  return runs.map(([from, to]) => [startOf(from), startOf(to)]);
}
