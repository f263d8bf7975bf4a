import type { LogFilter, TimeRange } from "../../../../query/index.ts";
import { validationFailed } from "../../../errors.ts";
import { formatNs } from "../entry-time.ts";
import { HISTOGRAM_MAX_BUCKETS, HISTOGRAM_MAX_GROUPS } from "../limits.ts";
import { type ReadDependencies, readLogs } from "../read-logs.ts";
import { selectionOf } from "../selection.ts";
import { type BucketSeries, bucketSeries, NANOS_PER_SECOND } from "./buckets.ts";
import { bucketsPlan, extentPlan, groupedBucketsPlan, levelBucketsPlan, topValuesPlan } from "./plans.ts";
import type { Histogram, HistogramParameters } from "./types.ts";

/** A longer range is narrowed to where there are entries: nobody looks at empty centuries. */
const RANGE_MAX_NS = 100n * 365n * 86_400n * NANOS_PER_SECOND;
/** Differences of times have to fit in 64 bits. */
const SPAN_MAX_NS = 2n ** 63n - RANGE_MAX_NS;

/**
 * The entries that match by time, every bucket of the range included. Without `from` or `to` the range ends where the
 * entries do, so that the total is that of a search. Throws VALIDATION_FAILED for buckets too many.
 */
export async function readHistogram(
  deps: ReadDependencies,
  { bucketSec, groupBy, ...parameters }: HistogramParameters,
): Promise<Histogram> {
  const { filter, timeRange } = await selectionOf(deps, deps.logs.caller.organizationId, parameters);
  if (bucketSec !== undefined && groupBy === undefined && closedOf(timeRange) === null) {
    const histogram = await whereEntriesAre(deps, filter, timeRange, bucketSec);
    if (histogram !== null) return histogram;
  }
  const range = await closedRange(deps, filter, timeRange);
  if (range === null) return { buckets: [], bucketSec: bucketSec ?? 1, total: 0 };
  const series = bucketSeries(range.from, range.to, bucketSec ?? null);
  if (series.count > HISTOGRAM_MAX_BUCKETS)
    throw validationFailed([
      { path: "/bucketSec", code: "too_small", message: `makes more than ${HISTOGRAM_MAX_BUCKETS} buckets` },
    ]);
  const question = { filter, timeRange: range, series };
  const buckets =
    groupBy === undefined
      ? await plainBuckets(deps, question)
      : groupBy === "level"
        ? await levelBuckets(deps, question)
        : await groupedBuckets(deps, question, groupBy);
  return {
    buckets,
    bucketSec: series.widthSec,
    total: buckets.reduce((sum, { count }) => sum + count, 0),
  };
}

interface ClosedRange {
  readonly from: bigint;
  readonly to: bigint;
}

interface HistogramQuestion {
  readonly filter: LogFilter;
  readonly timeRange: ClosedRange;
  readonly series: BucketSeries;
}

/** Null for a range that ends where the entries do. */
function closedOf({ from, to }: TimeRange): ClosedRange | null {
  return from !== null && to !== null && to - from <= RANGE_MAX_NS ? { from, to } : null;
}

/**
 * The buckets from the first with entries to the last, in one statement: where these are is known when they are counted, since buckets
 * of one width are the same whatever the range. Null where they are too many to be told.
 */
async function whereEntriesAre(
  deps: ReadDependencies,
  filter: LogFilter,
  timeRange: TimeRange,
  widthSec: number,
): Promise<Histogram | null> {
  const { rows } = await readLogs(deps, {
    operation: "histogram",
    plan: bucketsPlan(filter, { widthSec, startNs: 0n, count: 0 }),
    timeRange,
    maxRows: HISTOGRAM_MAX_BUCKETS + 1,
  });
  if (rows.length > HISTOGRAM_MAX_BUCKETS) return null;
  const numbered = rows.map(([bucket, count]) => [Number(bucket), Number(count)] as const);
  const counts = new Map(numbered);
  const numbers = numbered.map(([number]) => number);
  const first = Math.min(...numbers);
  const count = rows.length === 0 ? 0 : Math.max(...numbers) - first + 1;
  if (count > HISTOGRAM_MAX_BUCKETS) return null;
  const series = { widthSec, startNs: BigInt(count === 0 ? 0 : first * widthSec) * NANOS_PER_SECOND, count };
  return {
    buckets: startsOf(series).map((start, i) => ({ start, count: counts.get(first + i) ?? 0 })),
    bucketSec: widthSec,
    total: numbered.reduce((sum, [, entries]) => sum + entries, 0),
  };
}

/** Null when nothing matches in a range that the parameters leave open. */
async function closedRange(
  deps: ReadDependencies,
  filter: LogFilter,
  timeRange: TimeRange,
): Promise<ClosedRange | null> {
  const closed = closedOf(timeRange);
  if (closed !== null) return closed;
  const { rows } = await readLogs(deps, {
    operation: "histogram_extent",
    plan: extentPlan(filter),
    timeRange,
    maxRows: 1,
  });
  const [first, last] = rows[0] ?? [];
  if (typeof first !== "string" || typeof last !== "string") return null;
  const extent = { from: BigInt(first), to: BigInt(last) };
  if (extent.to - extent.from > SPAN_MAX_NS)
    throw validationFailed([{ path: "/from", code: "custom", message: "leaves a range too long to divide" }]);
  return extent;
}

type Bucket = Histogram["buckets"][number];

async function plainBuckets(
  deps: ReadDependencies,
  { filter, timeRange, series }: HistogramQuestion,
): Promise<Bucket[]> {
  const { rows } = await readLogs(deps, {
    operation: "histogram",
    plan: bucketsPlan(filter, series),
    timeRange,
    maxRows: HISTOGRAM_MAX_BUCKETS,
  });
  const counts = new Map(rows.map(([bucket, count]) => [Number(bucket), Number(count)]));
  return startsOf(series).map((start, i) => ({ start, count: counts.get(i) ?? 0 }));
}

/** A level is one of so few values that all of them are groups: one pass counts them, and says which are the most frequent. */
async function levelBuckets(
  deps: ReadDependencies,
  { filter, timeRange, series }: HistogramQuestion,
): Promise<Bucket[]> {
  const { rows } = await readLogs(deps, {
    operation: "histogram",
    plan: levelBucketsPlan(filter, series),
    timeRange,
    maxRows: HISTOGRAM_MAX_BUCKETS * HISTOGRAM_MAX_GROUPS,
  });
  const counts = new Map<string, number>();
  const totals = new Map<string, number>();
  for (const [bucket, level, entries] of rows) {
    const value = String(level);
    counts.set(keyOf(Number(bucket), value), Number(entries));
    totals.set(value, (totals.get(value) ?? 0) + Number(entries));
  }
  const ordered = [...totals].toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  return groupsOf(
    series,
    ordered.map(([value]) => value),
    counts,
  );
}

async function groupedBuckets(
  deps: ReadDependencies,
  { filter, timeRange, series }: HistogramQuestion,
  field: string,
): Promise<Bucket[]> {
  const top = await readLogs(deps, {
    operation: "histogram_groups",
    plan: topValuesPlan(filter, field, HISTOGRAM_MAX_GROUPS),
    timeRange,
    maxRows: HISTOGRAM_MAX_GROUPS,
  });
  const values = top.rows.map(([value]) => String(value));
  const { rows } = await readLogs(deps, {
    operation: "histogram",
    plan: groupedBucketsPlan(filter, series, field, values),
    timeRange,
    maxRows: HISTOGRAM_MAX_BUCKETS * (HISTOGRAM_MAX_GROUPS + 1),
  });
  const counts = new Map<string, number>();
  for (const [bucket, value, isNamed, count] of rows)
    counts.set(
      keyOf(Number(bucket), isNamed === true || isNamed === 1 ? String(value) : null),
      Number(count),
    );
  return groupsOf(series, values, counts);
}

/** The buckets with the counts of each of the values, and of all others, in them. */
function groupsOf(
  series: BucketSeries,
  values: readonly string[],
  counts: ReadonlyMap<string, number>,
): Bucket[] {
  return startsOf(series).map((start, i) => {
    const groups = values.map((value) => ({
      value: value === "" ? null : value,
      count: counts.get(keyOf(i, value)) ?? 0,
    }));
    const other = counts.get(keyOf(i, null)) ?? 0;
    return { start, count: groups.reduce((sum, group) => sum + group.count, other), groups, other };
  });
}

function keyOf(bucket: number, value: string | null): string {
  return JSON.stringify([bucket, value]);
}

function startsOf({ startNs, widthSec, count }: BucketSeries): string[] {
  const widthNs = BigInt(widthSec) * NANOS_PER_SECOND;
  return Array.from({ length: count }, (_, i) => formatNs(String(startNs + BigInt(i) * widthNs)));
}
