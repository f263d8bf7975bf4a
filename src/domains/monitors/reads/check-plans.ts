import {
  aggregate,
  aggregateCall,
  allOf,
  anyOf,
  call,
  columnOf,
  type Expression,
  filter,
  limit,
  literal,
  type Relation,
  scan,
  sort,
  timeBucket,
} from "../../../../query/index.ts";
import type { Span } from "../../../uptime/spans.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** The checks of a monitor that lie in a stretch of time. */
export interface ChecksOf {
  readonly monitorId: number;
  readonly span: Span;
}

/** Where a list of checks goes on: behind this one. */
export interface CheckPosition {
  readonly startedAtMs: number;
  readonly region: string;
}

export function nanosOf(ms: number): bigint {
  return BigInt(Math.trunc(ms)) * NANOS_PER_MILLI;
}

/** Newest first. */
export function checkPagePlan(of: ChecksOf, after: CheckPosition | null, maxRows: number): Relation {
  const all = checksIn([of]);
  const rest = after === null ? all : filter(all, isBehind(all, after));
  const ordered = sort(rest, [
    { expression: columnOf(rest, "startedAt"), direction: "descending" },
    { expression: columnOf(rest, "region"), direction: "descending" },
  ]);
  return limit(ordered, maxRows);
}

/** How many checks there are by monitor and status: `monitorId`, `status`, `checks`. */
export function checkCountPlan(of: readonly ChecksOf[]): Relation {
  const all = checksIn(of);
  return aggregate(
    all,
    [
      { name: "monitorId", expression: columnOf(all, "monitorId") },
      { name: "status", expression: columnOf(all, "status") },
    ],
    [aggregateCall("checks", "sum", columnOf(all, "slots"))],
  );
}

/** How long checks took that were answered, by monitor: `monitorId`, then avg, min, p50, p95, p99, max. */
export function responseTimePlan(of: readonly ChecksOf[]): Relation {
  const all = answered(checksIn(of));
  const duration = columnOf(all, "durationMs");
  const percentile = (name: string, level: number) =>
    aggregateCall(name, "percentile", duration, literal("real", level));
  return aggregate(
    all,
    [{ name: "monitorId", expression: columnOf(all, "monitorId") }],
    [
      aggregateCall("avg", "avg", duration),
      aggregateCall("min", "min", duration),
      percentile("p50", 50),
      percentile("p95", 95),
      percentile("p99", 99),
      aggregateCall("max", "max", duration),
    ],
  );
}

/** The same by equal lengths of time from the beginning of the span on: `bucket` from 0, `checks`, `avg`. */
export function bucketPlan(of: ChecksOf, bucketMs: number, isAnswered: boolean): Relation {
  const all = isAnswered ? answered(checksIn([of])) : checksIn([of]);
  const bucket = timeBucket(columnOf(all, "startedAt"), nanosOf(of.span.fromMs), nanosOf(bucketMs));
  return aggregate(
    all,
    [{ name: "bucket", expression: bucket }],
    [
      aggregateCall("checks", "sum", columnOf(all, "slots")),
      aggregateCall("avg", "avg", columnOf(all, "durationMs")),
    ],
  );
}

function checksIn(of: readonly ChecksOf[]): Relation {
  const all = scan("checks");
  const startedAt = columnOf(all, "startedAt");
  const isOne = ({ monitorId, span }: ChecksOf): Expression =>
    allOf([
      call("equal", columnOf(all, "monitorId"), literal("long", BigInt(monitorId))),
      call("greaterOrEqual", startedAt, literal("datetime", nanosOf(span.fromMs))),
      call("less", startedAt, literal("datetime", nanosOf(span.toMs))),
    ]);
  return filter(all, anyOf(of.map(isOne)));
}

function answered(checks: Relation): Relation {
  const status = columnOf(checks, "status");
  return filter(
    checks,
    anyOf(["up", "degraded"].map((one) => call("equal", status, literal("string", one)))),
  );
}

function isBehind(checks: Relation, { startedAtMs, region }: CheckPosition): Expression {
  const startedAt = columnOf(checks, "startedAt");
  const at = literal("datetime", nanosOf(startedAtMs));
  const isSame = [
    call("equal", startedAt, at),
    call("less", call("strcmp", columnOf(checks, "region"), literal("string", region)), literal("long", 0n)),
  ];
  return anyOf([call("less", startedAt, at), allOf(isSame)]);
}
