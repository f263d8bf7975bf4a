import {
  aggregate,
  aggregateCall,
  allOf,
  anyOf,
  attribute,
  call,
  columnOf,
  type Expression,
  filter,
  literal,
  type Relation,
  scan,
  timeBucket,
} from "../../../query/index.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { COUNTS_MAX, type Counts, type CountsDependencies, readCounts } from "../counters/read-counts.ts";
import type { TimeSpan } from "../evaluation/bucket-sums.ts";
import { joinedPoint, type Point, type Points, pointOf } from "./point.ts";
import { type MetricSource, NAME_ATTRIBUTE, VALUE_ATTRIBUTE } from "./source.ts";

const NANOS_PER_MILLI = 1_000_000n;
const MINUTE_MS = 60_000;

/** Which points are asked for. */
interface PointsOf {
  readonly source: MetricSource;
  /** Of entries of a service alone; null for any. Monitors have none. */
  readonly service: string | null;
  /** Whole buckets. */
  readonly span: TimeSpan;
  readonly bucketMs: number;
}

/**
 * The points of a metric. What is counted, entries and bytes, has a value for every minute, or for every bucket that is
 * shorter, also where nothing came; any other metric has none there. Throws what reading logs throws.
 */
export async function readPoints(
  deps: CountsDependencies,
  caller: QueryCaller,
  { source, service, span, bucketMs }: PointsOf,
  nowMs: number,
): Promise<Points> {
  if (source.kind === "entries" || source.kind === "bytes") {
    const unitMs = unitOf(span, bucketMs);
    const values = await countedValues(deps, caller, { source, service, span, unitMs });
    return densePoints(values, { span, bucketMs, unitMs, nowMs });
  }
  const plan =
    source.kind === "attribute"
      ? attributePlan(source.name, service, span, bucketMs)
      : checkPlan(source.kind, span, bucketMs);
  const { value } = await deps.ranges.read(caller, (logs) => {
    const statement = { operation: "metric_points", plan, timeRange: rangeOf(span), maxRows: COUNTS_MAX };
    return logs.run({ ...statement, budget: deps.budget });
  });
  return new Map(
    value.rows.map(([bucket, sum, count, min, max, last]): [number, Point] => [
      Number(bucket),
      { sum: Number(sum), count: Number(count), min: Number(min), max: Number(max), last: Number(last) },
    ]),
  );
}

/** A minute, unless buckets are shorter or there would be too many. */
function unitOf({ fromMs, toMs }: TimeSpan, bucketMs: number): number {
  const isMinutes = bucketMs % MINUTE_MS === 0 && (toMs - fromMs) / MINUTE_MS <= COUNTS_MAX;
  return isMinutes ? MINUTE_MS : bucketMs;
}

async function countedValues(
  deps: CountsDependencies,
  caller: QueryCaller,
  of: {
    readonly source: Extract<MetricSource, { kind: "entries" | "bytes" }>;
    readonly service: string | null;
    readonly span: TimeSpan;
    readonly unitMs: number;
  },
): Promise<Counts> {
  const { source, service, span, unitMs } = of;
  if (source.kind === "entries") {
    const { filter: entries, counterId } = source;
    // Nothing is of two services.
    if (service !== null && entries.service !== null && service !== entries.service) return new Map();
    const buckets = { widthSec: unitMs / 1000, first: span.fromMs / unitMs, end: span.toMs / unitMs };
    const isCounted = service === null && unitMs % MINUTE_MS === 0;
    const asked = { ...entries, service: service ?? entries.service };
    return readCounts(deps, caller, asked, buckets, isCounted ? counterId : null);
  }
  const { value } = await deps.ranges.read(caller, (logs) => {
    const plan = bytesPlan(service, unitMs);
    const statement = { operation: "metric_points", plan, timeRange: rangeOf(span), maxRows: COUNTS_MAX };
    return logs.run({ ...statement, budget: deps.budget });
  });
  return new Map(value.rows.map(([bucket, bytes]) => [Number(bucket), Number(bytes)]));
}

/** Values of units as points of buckets, with a value for every unit that has begun. */
function densePoints(
  values: Counts,
  of: { readonly span: TimeSpan; readonly bucketMs: number; readonly unitMs: number; readonly nowMs: number },
): Points {
  const { span, bucketMs, unitMs, nowMs } = of;
  const points = new Map<number, Point>();
  for (let atMs = span.fromMs; atMs < span.toMs; atMs += bucketMs) {
    const endMs = Math.min(atMs + bucketMs, nowMs + unitMs, span.toMs);
    const units: Point[] = [];
    for (let unit = atMs / unitMs; unit * unitMs < endMs; unit++) units.push(pointOf(values.get(unit) ?? 0));
    const point = joinedPoint(units);
    if (point !== null) points.set(atMs / bucketMs, point);
  }
  return points;
}

function rangeOf({ fromMs, toMs }: TimeSpan) {
  return { from: BigInt(fromMs) * NANOS_PER_MILLI, to: BigInt(toMs) * NANOS_PER_MILLI - 1n };
}

function bytesPlan(service: string | null, unitMs: number): Relation {
  const logs = ofService(scan("logs"), service);
  return aggregate(
    logs,
    [{ name: "bucket", expression: bucketOf(columnOf(logs, "ts"), unitMs) }],
    [aggregateCall("bytes", "sum", call("string_size", columnOf(logs, "message")))],
  );
}

function attributePlan(name: string, service: string | null, span: TimeSpan, bucketMs: number): Relation {
  const logs = ofService(scan("logs"), service);
  const value = call("todouble", attribute("attrs", ...VALUE_ATTRIBUTE));
  const named = filter(
    logs,
    allOf([
      call("equal", call("tostring", attribute("attrs", ...NAME_ATTRIBUTE)), literal("string", name)),
      call("isfinite", value),
      within(columnOf(logs, "ts"), span),
    ]),
  );
  return pointsPlan(named, columnOf(named, "ts"), value, bucketMs);
}

function checkPlan(kind: "response_ms" | "up", span: TimeSpan, bucketMs: number): Relation {
  const checks = scan("checks");
  const status = columnOf(checks, "status");
  const is = (names: readonly string[]): Expression =>
    anyOf(names.map((one) => call("equal", status, literal("string", one))));
  const answered = is(["up", "degraded"]);
  const known = filter(
    checks,
    allOf([
      kind === "response_ms" ? answered : is(["up", "degraded", "down"]),
      within(columnOf(checks, "startedAt"), span),
    ]),
  );
  const value =
    kind === "response_ms"
      ? columnOf(known, "durationMs")
      : call("iff", answered, literal("real", 1), literal("real", 0));
  return pointsPlan(known, columnOf(known, "startedAt"), value, bucketMs);
}

/** The points of rows by their buckets: `bucket`, `sum`, `count`, `min`, `max`, `last`. */
function pointsPlan(rows: Relation, time: Expression, value: Expression, bucketMs: number): Relation {
  return aggregate(
    rows,
    [{ name: "bucket", expression: bucketOf(time, bucketMs) }],
    [
      aggregateCall("sum", "sum", value),
      aggregateCall("count", "count"),
      aggregateCall("min", "min", value),
      aggregateCall("max", "max", value),
      aggregateCall("last", "argMax", time, value),
    ],
  );
}

function bucketOf(time: Expression, bucketMs: number): Expression {
  return timeBucket(time, 0n, BigInt(bucketMs) * NANOS_PER_MILLI);
}

function within(time: Expression, { fromMs, toMs }: TimeSpan): Expression {
  return allOf([
    call("greaterOrEqual", time, literal("datetime", BigInt(fromMs) * NANOS_PER_MILLI)),
    call("less", time, literal("datetime", BigInt(toMs) * NANOS_PER_MILLI)),
  ]);
}

function ofService(logs: Relation, service: string | null): Relation {
  return service === null
    ? logs
    : filter(logs, call("equal", columnOf(logs, "service"), literal("string", service)));
}
