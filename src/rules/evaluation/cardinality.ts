/** An entry with a value of the field whose values are counted. */
interface ValueHit {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly value: string;
}

/** A moment at which there are enough different values, and how many. */
interface CardinalityPoint {
  readonly atMs: number;
  readonly values: number;
}

/** Where the window that ends with an entry, its beginning excluded, has at least so many different values. */
export function cardinalityPoints(
  hits: readonly ValueHit[],
  threshold: number,
  windowMs: number,
): CardinalityPoint[] {
  const sorted = hits.toSorted((left, right) => left.atMs - right.atMs);
  const inside = new Map<string, number>();
  const points: CardinalityPoint[] = [];
  let oldest = 0;
  for (const [i, { atMs, value }] of sorted.entries()) {
    inside.set(value, (inside.get(value) ?? 0) + 1);
    for (let hit = sorted[oldest]; hit !== undefined && hit.atMs <= atMs - windowMs; hit = sorted[oldest]) {
      const left = (inside.get(hit.value) ?? 0) - 1;
      if (left <= 0) inside.delete(hit.value);
      else inside.set(hit.value, left);
      oldest += 1;
    }
    // Of one time all count, whatever their order.
    if (sorted[i + 1]?.atMs !== atMs && inside.size >= threshold) points.push({ atMs, values: inside.size });
  }
  return points;
}
