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

/** In the order of their columns. */
export const CHECK_STATUSES = ["up", "degraded", "down", "unknown", "missed"] as const;

/**
 * What there is to say of checks, in one pass over them: by monitor, and whether they were answered, how many there are of each
 * status and how long they took. `monitorId`, `answered`, the statuses, then avg, min, p50, p95, p99, max.
 */
export function checkStatsPlan(of: readonly ChecksOf[]): Relation {
  const all = checksIn(of);
  const [status, slots, duration] = ["status", "slots", "durationMs"].map((name) => columnOf(all, name));
  if (status === undefined || slots === undefined || duration === undefined)
    throw new Error("no such column");
  const percentile = (name: string, level: number) =>
    aggregateCall(name, "percentile", duration, literal("real", level));
  return aggregate(
    all,
    [
      { name: "monitorId", expression: columnOf(all, "monitorId") },
      { name: "answered", expression: isAnswered(all) },
    ],
    [
      ...CHECK_STATUSES.map((one) =>
        aggregateCall(one, "sumif", slots, call("equal", status, literal("string", one))),
      ),
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

/** Monitors of one span are one condition: a condition for each would be asked of every check of all of them. */
function checksIn(of: readonly ChecksOf[]): Relation {
  const all = scan("checks");
  const [monitorId, startedAt] = [columnOf(all, "monitorId"), columnOf(all, "startedAt")];
  const spans = Map.groupBy(of, ({ span }) => `${span.fromMs} ${span.toMs}`);
  const isIn = ({ fromMs, toMs }: Span, ids: readonly number[]): Expression =>
    allOf([
      anyOf(ids.map((id) => call("equal", monitorId, literal("long", BigInt(id))))),
      call("greaterOrEqual", startedAt, literal("datetime", nanosOf(fromMs))),
      call("less", startedAt, literal("datetime", nanosOf(toMs))),
    ]);
  return filter(
    all,
    anyOf(
      [...spans.values()].flatMap((ofSpan) => {
        const [first] = ofSpan;
        return first === undefined
          ? []
          : [
              isIn(
                first.span,
                ofSpan.map((one) => one.monitorId),
              ),
            ];
      }),
    ),
  );
}

function answered(checks: Relation): Relation {
  return filter(checks, isAnswered(checks));
}

function isAnswered(checks: Relation): Expression {
  const status = columnOf(checks, "status");
  return anyOf(["up", "degraded"].map((one) => call("equal", status, literal("string", one))));
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
