import { validationFailed } from "../../errors.ts";
import {
  type Buckets,
  COUNTS_MAX,
  type Counts,
  type CountsDependencies,
  readCounts,
} from "../../rules/counters/read-counts.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { COUNTED_MAX_MS, FILLED_MAX_POINTS, SERIES_DEFAULT_MS } from "./limits.ts";
import { countedBy } from "./metrics.ts";
import { BUCKETS_SEC, type LogMetric, type Series, type SeriesParameters } from "./types.ts";

export interface SeriesDependencies extends CountsDependencies {
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * What a metric counts, as a search for the same would: what is counted already, and what is stored and not yet counted
 * from the entries. Throws VALIDATION_FAILED for a width or a range that cannot be, and what reading logs throws.
 */
export async function readSeries(
  deps: SeriesDependencies,
  caller: QueryCaller,
  metric: LogMetric,
  parameters: SeriesParameters,
): Promise<Series> {
  const nowMs = deps.now();
  const buckets = bucketsOf(parameters, metric, nowMs);
  const isKept = buckets.first * buckets.widthSec * 1000 >= nowMs - COUNTED_MAX_MS;
  const counterId = isKept ? await countedBy(deps.sql, caller.organizationId, metric.id) : null;
  const counts = await readCounts(deps, caller, metric, buckets, counterId);
  const { points, truncated } = pointsOf(counts, buckets);
  return { points, bucketSec: buckets.widthSec, completeThrough: new Date(nowMs).toISOString(), truncated };
}

function bucketsOf({ from, to, bucketSec }: SeriesParameters, metric: LogMetric, nowMs: number): Buckets {
  const widthSec = bucketSec ?? metric.bucketSec;
  if (!BUCKETS_SEC.some((width) => width === widthSec))
    throw validationFailed([
      { path: "/bucketSec", code: "custom", message: `is none of ${BUCKETS_SEC.join(", ")}` },
    ]);
  const toMs = to === undefined ? nowMs : Date.parse(to);
  const fromMs = from === undefined ? toMs - SERIES_DEFAULT_MS : Date.parse(from);
  if (fromMs > toMs)
    throw validationFailed([{ path: "/from", code: "custom", message: "is later than `to`" }]);
  const widthMs = widthSec * 1000;
  return { widthSec, first: Math.floor(fromMs / widthMs), end: Math.floor(toMs / widthMs) + 1 };
}

function pointsOf(counts: Counts, { widthSec, first, end }: Buckets): Pick<Series, "points" | "truncated"> {
  const starts =
    end - first <= FILLED_MAX_POINTS
      ? Array.from({ length: end - first }, (_, i) => first + i)
      : [...counts.keys()].toSorted((left, right) => left - right);
  const points = starts.slice(0, COUNTS_MAX).map((bucket) => ({
    start: new Date(bucket * widthSec * 1000).toISOString(),
    value: counts.get(bucket) ?? 0,
  }));
  return { points, truncated: starts.length >= COUNTS_MAX };
}
