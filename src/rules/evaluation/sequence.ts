/** One entry that is one or more steps of a sequence. */
export interface Hit {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** The steps that it may be, from 0 on. */
  readonly steps: readonly number[];
}

/** A moment at which a sequence is complete, and when the latest such sequence began. */
interface SequencePoint {
  readonly atMs: number;
  readonly startMs: number;
}

/**
 * Where a sequence of steps is complete within a window, both ends included: at each entry that ends one. Entries of one time
 * count in either order, since many sources write whole seconds, and one entry serves one step. Kept is for each step the
 * latest time at which a sequence up to it began: a later beginning is never worse.
 */
export function sequencePoints(hits: readonly Hit[], stepCount: number, windowMs: number): SequencePoint[] {
  const latest: number[] = Array.from({ length: stepCount }, () => Number.NEGATIVE_INFINITY);
  const points: SequencePoint[] = [];
  const byTime = Map.groupBy(
    hits.toSorted((left, right) => left.atMs - right.atMs),
    ({ atMs }) => atMs,
  );
  for (const [atMs, together] of byTime) {
    const before = [...latest];
    for (let first = 0; first < stepCount; first++) {
      const startMs = first === 0 ? atMs : (before[first - 1] ?? Number.NEGATIVE_INFINITY);
      if (atMs - startMs > windowMs) continue;
      for (let last = first; last < stepCount && canServe(together, first, last); last++)
        latest[last] = Math.max(latest[last] ?? Number.NEGATIVE_INFINITY, startMs);
    }
    const startMs = latest[stepCount - 1] ?? Number.NEGATIVE_INFINITY;
    const isNew = together.some(({ steps }) => steps.includes(stepCount - 1));
    if (isNew && atMs - startMs <= windowMs) points.push({ atMs, startMs });
  }
  return points;
}

/** Whether entries of one time can be the steps from `first` to `last`, each of them one. */
function canServe(hits: readonly Hit[], first: number, last: number): boolean {
  const served = new Map<Hit, number>();
  for (let step = first; step <= last; step++) if (!serve(step, hits, served, new Set())) return false;
  return true;
}

/** Finds an entry for a step, if need be by giving the one that it takes another step: an augmenting path. */
function serve(step: number, hits: readonly Hit[], served: Map<Hit, number>, tried: Set<Hit>): boolean {
  for (const hit of hits) {
    if (!hit.steps.includes(step) || tried.has(hit)) continue;
    tried.add(hit);
    const other = served.get(hit);
    if (other !== undefined && !serve(other, hits, served, tried)) continue;
    served.set(hit, step);
    return true;
  }
  return false;
}
