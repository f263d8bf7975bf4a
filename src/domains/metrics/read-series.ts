import { validationFailed } from "../../errors.ts";
import { COUNTS_MAX, type CountsDependencies } from "../../rules/counters/read-counts.ts";
import { aggregated } from "../../rules/metrics/point.ts";
import { readPoints } from "../../rules/metrics/read-points.ts";
import { type MetricSource, metricSource } from "../../rules/metrics/source.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { BUCKETS_DEFAULT, RANGE_DEFAULT_MS } from "./limits.ts";
import type { MetricSeries, MetricSeriesParameters } from "./types.ts";

export interface MetricDependencies extends CountsDependencies {
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Widths that a chart is read in, in seconds. */
const WIDTHS_SEC = [1, 5, 10, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400];

/** A metric bucket by bucket. `judge` may refuse the caller its source. Throws VALIDATION_FAILED and what reading logs throws. */
export async function readMetricSeries(
  deps: MetricDependencies,
  caller: QueryCaller,
  {
    name,
    service = null,
    from,
    to,
    bucket,
    agg = "avg",
  }: Omit<MetricSeriesParameters, "service"> & {
    readonly service?: string | null;
  },
  judge: (source: MetricSource) => void,
): Promise<MetricSeries> {
  const { organizationId } = caller;
  const source = await askPostgres(() =>
    inOrganization(deps.sql, organizationId, (tx) => metricSource(tx, organizationId, name)),
  );
  judge(source);
  const nowMs = deps.now();
  const toMs = to === undefined ? nowMs : Date.parse(to);
  const fromMs = from === undefined ? toMs - RANGE_DEFAULT_MS : Date.parse(from);
  if (fromMs < 0) throw validationFailed([{ path: "/from", code: "custom", message: "is before 1970" }]);
  if (fromMs > toMs)
    throw validationFailed([{ path: "/from", code: "custom", message: "is later than `to`" }]);
  const bucketSec = bucket ?? widthFor(toMs - fromMs);
  const bucketMs = bucketSec * 1000;
  const span = {
    fromMs: Math.floor(fromMs / bucketMs) * bucketMs,
    toMs: (Math.floor(toMs / bucketMs) + 1) * bucketMs,
  };
  if ((span.toMs - span.fromMs) / bucketMs > COUNTS_MAX)
    throw validationFailed([
      { path: "/bucket", code: "too_small", message: `makes more than ${COUNTS_MAX} buckets of the range` },
    ]);
  const points = await readPoints(deps, caller, { source, service, span, bucketMs }, nowMs);
  const sorted = [...points].toSorted(([left], [right]) => left - right);
  return {
    points: sorted.map(([number, point]) => {
      return { start: new Date(number * bucketMs).toISOString(), value: aggregated(point, agg) };
    }),
    bucketSec,
    completeThrough: new Date(nowMs).toISOString(),
    truncated: points.size >= COUNTS_MAX,
  };
}

function widthFor(rangeMs: number): number {
  const least = rangeMs / 1000 / BUCKETS_DEFAULT;
  return WIDTHS_SEC.find((width) => width >= least) ?? 86_400;
}
