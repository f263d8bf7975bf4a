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
  filteredLogs,
  literal,
  parseSearch,
  type Relation,
  scan,
  timeBucket,
} from "../../../query/index.ts";
import { compileEntryQuery } from "../../kql/issues.ts";
import { conditionsOf } from "../../kql/relation-conditions.ts";
import { logicalField } from "../fields/logical-field.ts";
import type { CounterFilter } from "./counter-store.ts";
import { ALERT_FUTURE_MAX_MS, ALERT_PAST_MAX_MS, GROUP_COLUMNS } from "./limits.ts";

const NANOS_PER_MILLI = 1_000_000n;
const NANOS_PER_SECOND = 1_000_000_000n;

/** What the counters that one statement counts have in common. */
interface CountsPlan {
  readonly bucketSec: number;
  readonly clock: CounterFilter["clock"];
  /** Of the counter alone, where it groups. */
  readonly groupBy: readonly string[];
}

/** The columns of an answer: the bucket, the groups, and of each counter the count and, by the clock of alerts, two times. */
export function columnsPerCounter({ clock }: Pick<CountsPlan, "clock">): number {
  return clock === "alert" ? 3 : 1;
}

/**
 * How many entries each of the counters has in each bucket that has any for one of them: the bucket's number since 1970, the
 * values that it groups by, and the counts in their order; by the clock of alerts with the times of the first and the
 * last of the entries, in milliseconds. At most as many rows as there are entries.
 */
export function countsPlan(
  counters: readonly CounterFilter[],
  { bucketSec, clock, groupBy }: CountsPlan,
): Relation {
  const logs = scan("logs");
  const predicates = counters.map(predicateOf);
  const counted = filter(
    logs,
    clock === "own" ? anyOf(predicates) : allOf([isTimely(logs), anyOf(predicates)]),
  );
  const time = timeOf(counted, clock);
  const bucket = timeBucket(time, 0n, BigInt(bucketSec) * NANOS_PER_SECOND);
  const millis = timeBucket(time, 0n, NANOS_PER_MILLI);
  return aggregate(
    counted,
    [{ name: "bucket", expression: bucket }, ...groupsOf(counted, groupBy)],
    predicates.flatMap((predicate, i) => [
      aggregateCall(`n${i}`, "countif", predicate),
      ...(clock === "own"
        ? []
        : [
            aggregateCall(`first${i}`, "minif", millis, predicate),
            aggregateCall(`last${i}`, "maxif", millis, predicate),
          ]),
    ]),
  );
}

/** How many entries of a counter have each time of the span, in milliseconds since 1970, and each value that it groups by. */
export function timesPlan(
  counter: CounterFilter,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Relation {
  const logs = scan("logs");
  const { clock, groupBy } = counter;
  const time = timeOf(logs, clock);
  const counted = filter(
    logs,
    allOf([
      ...(clock === "own" ? [] : [isTimely(logs)]),
      call("greaterOrEqual", time, literal("datetime", BigInt(fromMs) * NANOS_PER_MILLI)),
      call("less", time, literal("datetime", BigInt(toMs) * NANOS_PER_MILLI)),
      predicateOf(counter),
    ]),
  );
  const millis = timeBucket(timeOf(counted, clock), 0n, NANOS_PER_MILLI);
  return aggregate(
    counted,
    [{ name: "at", expression: millis }, ...groupsOf(counted, groupBy)],
    [aggregateCall("n", "count")],
  );
}

/**
 * The time by which alerts count an entry: its own, so that what alerts count is what a search shows, but of one that says
 * that it comes from the future, when it came: nobody evades a rule by a false time.
 */
export function timeOf(logs: Relation, clock: CounterFilter["clock"]): Expression {
  const own = columnOf(logs, "ts");
  if (clock === "own") return own;
  const received = columnOf(logs, "receivedAt");
  const latest = call("add", received, literal("timespan", BigInt(ALERT_FUTURE_MAX_MS) * NANOS_PER_MILLI));
  return call("iff", call("greater", own, latest), received, own);
}

/** What was old when it came is an import, and alerts nobody. */
export function isTimely(logs: Relation): Expression {
  const oldest = call(
    "subtract",
    columnOf(logs, "receivedAt"),
    literal("timespan", BigInt(ALERT_PAST_MAX_MS) * NANOS_PER_MILLI),
  );
  return call("greaterOrEqual", columnOf(logs, "ts"), oldest);
}

function groupsOf(logs: Relation, groupBy: readonly string[]) {
  return groupBy.map((field, i) => ({ name: `group${i}`, expression: groupOf(logs, field) }));
}

/** A field of an entry as a text: a column, a logical field, else the attribute of that name. */
export function groupOf(logs: Relation, field: string): Expression {
  if (GROUP_COLUMNS.some((name) => name === field)) return columnOf(logs, field);
  return logicalField(field) ?? call("tostring", attribute("attrs", ...field.split(".")));
}

/** Throws KQL_INVALID for conditions that do more than let entries through one by one. */
export function predicateOf({ query, kql, service, level }: CounterFilter): Expression {
  const parsed = parseSearch(query ?? "");
  if (!parsed.ok) throw new TypeError("a counter has a query that is too long");
  // Which moment it is says nothing: a condition in which the present stands is refused when it is made.
  const relation = kql === null ? null : compileEntryQuery(kql, 0);
  const conditions = conditionsOf(
    filteredLogs({ search: parsed.condition, service, level, query: relation }),
  );
  if (conditions === null) throw new TypeError("a counter counts what are no entries");
  return conditions.length === 0 ? literal("bool", true) : allOf(conditions);
}
