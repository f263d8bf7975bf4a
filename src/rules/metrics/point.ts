/** What the values of a metric in a stretch of time come to. */
export interface Point {
  readonly sum: number;
  readonly count: number;
  readonly min: number;
  readonly max: number;
  /** The latest of them. */
  readonly last: number;
}

export const AGGREGATIONS = ["avg", "sum", "min", "max", "last"] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

/** Points by the numbers of their buckets since 1970; a bucket without values has none. */
export type Points = ReadonlyMap<number, Point>;

export function pointOf(value: number): Point {
  return { sum: value, count: 1, min: value, max: value, last: value };
}

/** The points of stretches that follow each other as one; null for none. */
export function joinedPoint(points: Iterable<Point>): Point | null {
  let joined: Point | null = null;
  for (const point of points)
    joined =
      joined === null
        ? point
        : {
            sum: joined.sum + point.sum,
            count: joined.count + point.count,
            min: Math.min(joined.min, point.min),
            max: Math.max(joined.max, point.max),
            last: point.last,
          };
  return joined;
}

export function aggregated({ sum, count, min, max, last }: Point, aggregation: Aggregation): number {
  return { avg: sum / count, sum, min, max, last }[aggregation];
}
