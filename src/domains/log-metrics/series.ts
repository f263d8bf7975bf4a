import type { Sql } from "postgres";
import type { MadeEntries, QueryBudget } from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { validationFailed } from "../../errors.ts";
import { countsPlan } from "../../rules/counters/counter-plan.ts";
import { plainCounter } from "../../rules/counters/counter-store.ts";
import { readCounter, type SignalTable } from "../../rules/seal/signal-store.ts";
import { countedSpans } from "../../rules/streams/stream-store.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { COUNTED_MAX_MS, FILLED_MAX_POINTS, SERIES_DEFAULT_MS, SERIES_MAX_POINTS } from "./limits.ts";
import { countedBy } from "./metrics.ts";
import { BUCKETS_SEC, type LogMetric, type Series, type SeriesParameters } from "./types.ts";

export interface SeriesDependencies {
  readonly sql: Sql;
  readonly signals: SignalTable;
  readonly ranges: LogRanges;
  readonly budget: QueryBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Whole buckets: the first one's number since 1970, and that behind the last. */
interface Buckets {
  readonly widthSec: number;
  readonly first: number;
  readonly end: number;
}

type Counts = ReadonlyMap<number, number>;

const NANOS_PER_SECOND = 1_000_000_000n;

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
  const counts =
    counterId === null
      ? await countEntries(deps, caller, metric, buckets, null)
      : await readCounts(deps, caller, metric, buckets, counterId);
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

/** What seals have counted, and from the entries what they have not: the same moment for both. */
async function readCounts(
  deps: SeriesDependencies,
  caller: QueryCaller,
  metric: LogMetric,
  buckets: Buckets,
  counterId: number,
): Promise<Counts> {
  const { sql, signals } = deps;
  const { widthSec, first, end } = buckets;
  // Before the counts: of a stream that has ended by now they have everything.
  const spans = await askPostgres(() => countedSpans(sql, counterId, "open"));
  const { counts, sealed } = await readCounter(
    signals,
    { organizationId: caller.organizationId, id: counterId },
    { fromMs: first * widthSec * 1000, toMs: end * widthSec * 1000, bucketSec: widthSec },
    caller.signal,
  );
  const uncounted = spans.map(({ streamId, instance, after, through }) => {
    const mark = sealed.get(streamId);
    return { instance, after: mark === undefined || mark < after ? after : mark, through };
  });
  const fresh = await countEntries(deps, caller, metric, buckets, { are: "in", spans: uncounted });
  const both = new Map(counts);
  for (const [bucket, n] of fresh) both.set(bucket, (both.get(bucket) ?? 0) + n);
  return both;
}

async function countEntries(
  { ranges, budget }: SeriesDependencies,
  caller: QueryCaller,
  metric: LogMetric,
  { widthSec, first, end }: Buckets,
  made: MadeEntries | null,
): Promise<Counts> {
  const widthNs = BigInt(widthSec) * NANOS_PER_SECOND;
  const counter = plainCounter(metric, widthSec);
  const statement = {
    operation: "metric_series",
    plan: countsPlan([counter], counter),
    timeRange: { from: BigInt(first) * widthNs, to: BigInt(end) * widthNs - 1n },
    maxRows: SERIES_MAX_POINTS,
    budget,
    ...(made !== null && { made }),
  };
  const { value } = await ranges.read(caller, (logs) =>
    // What is not counted yet came just now, and nothing of it has left the log store.
    made === null ? logs.run(statement) : logs.runHot(statement),
  );
  return new Map(value.rows.map(([bucket, n]) => [Number(bucket), Number(n)]));
}

function pointsOf(counts: Counts, { widthSec, first, end }: Buckets): Pick<Series, "points" | "truncated"> {
  const starts =
    end - first <= FILLED_MAX_POINTS
      ? Array.from({ length: end - first }, (_, i) => first + i)
      : [...counts.keys()].toSorted((left, right) => left - right);
  const points = starts.slice(0, SERIES_MAX_POINTS).map((bucket) => ({
    start: new Date(bucket * widthSec * 1000).toISOString(),
    value: counts.get(bucket) ?? 0,
  }));
  return { points, truncated: starts.length >= SERIES_MAX_POINTS };
}
