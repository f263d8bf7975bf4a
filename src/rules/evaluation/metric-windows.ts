import { type Aggregation, aggregated, joinedPoint, type Point, type Points } from "../metrics/point.ts";
import type { TimeSpan } from "./bucket-sums.ts";
import type { Stretch } from "./stretches.ts";

export const COMPARATORS = ["gt", "lt", "gte", "lte"] as const;
type Comparator = (typeof COMPARATORS)[number];

/** What is asked of the values of a metric in a window, which slides by buckets. */
interface MetricCondition {
  readonly aggregation: Aggregation;
  readonly comparator: Comparator;
  readonly threshold: number;
  readonly windowMs: number;
}

/** What a window came to that ends, exclusively, at a moment; null where it has no values, which says nothing. */
export interface WindowValue {
  readonly endMs: number;
  readonly value: number | null;
}

const MINUTE_SEC = 60;
const HOUR_SEC = 3600;
/** Widths of buckets of which a window up to an hour may be made. */
const WIDTHS_SEC = [60, 30, 20, 15, 12, 10, 6, 5, 4, 3, 2, 1];

/** The buckets that windows are made of, and slide by; a window of more than an hour is made of whole minutes. */
export function metricBuckets(windowSec: number): { readonly bucketMs: number; readonly windowMs: number } {
  const bucketSec =
    windowSec > HOUR_SEC ? MINUTE_SEC : (WIDTHS_SEC.find((width) => windowSec % width === 0) ?? 1);
  return { bucketMs: bucketSec * 1000, windowMs: Math.ceil(windowSec / bucketSec) * bucketSec * 1000 };
}

/** The windows that end after the beginning of a span and not after its end. */
export function windowValues(
  { aggregation, windowMs }: Pick<MetricCondition, "aggregation" | "windowMs">,
  points: Points,
  { fromMs, toMs }: TimeSpan,
  bucketMs: number,
): WindowValue[] {
  const values: WindowValue[] = [];
  for (let endMs = fromMs + bucketMs; endMs <= toMs; endMs += bucketMs) {
    const inside: Point[] = [];
    for (let at = endMs - windowMs; at < endMs; at += bucketMs) {
      const point = points.get(at / bucketMs);
      if (point !== undefined) inside.push(point);
    }
    const joined = joinedPoint(inside);
    values.push({ endMs, value: joined === null ? null : aggregated(joined, aggregation) });
  }
  return values;
}

/** Where the condition holds: stretches of a bucket each; the peak is how far beyond the threshold a value was. */
export function metricStretches(
  { comparator, threshold }: MetricCondition,
  values: readonly WindowValue[],
  bucketMs: number,
): (Stretch & { readonly value: number })[] {
  return values.flatMap(({ endMs, value }) =>
    value !== null && holds(value, comparator, threshold)
      ? [
          {
            ...{ fromMs: endMs - bucketMs, toMs: endMs, untilMs: endMs },
            ...{ peak: Math.abs(value - threshold), value },
          },
        ]
      : [],
  );
}

function holds(value: number, comparator: Comparator, threshold: number): boolean {
  switch (comparator) {
    case "gt":
      return value > threshold;
    case "gte":
      return value >= threshold;
    case "lt":
      return value < threshold;
    case "lte":
      return value <= threshold;
  }
}

const SAID: Readonly<Record<Comparator, string>> = {
  gt: "more than",
  gte: "at least",
  lt: "less than",
  lte: "at most",
};

/** Why a condition holds, in one sentence. */
export function explainMetric(
  { aggregation, comparator, threshold, windowMs }: MetricCondition,
  metric: string,
  value: number,
): string {
  const rounded = Number(value.toPrecision(6));
  return `${aggregation} of ${metric} was ${rounded} over ${windowMs / 1000} s; the rule tells of ${SAID[comparator]} ${threshold}.`;
}
