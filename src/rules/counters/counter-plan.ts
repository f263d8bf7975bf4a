import {
  type Aggregate,
  aggregate,
  aggregateCall,
  allOf,
  anyOf,
  attribute,
  call,
  caseOf,
  columnOf,
  type Expression,
  filter,
  filteredLogs,
  literal,
  type NamedExpression,
  type OrganizationCase,
  parseSearch,
  type ReachTest,
  type Relation,
  reachedBy,
  scan,
  timeBucket,
} from "../../../query/index.ts";
import { compileEntryQuery } from "../../kql/issues.ts";
import { conditionsOf } from "../../kql/relation-conditions.ts";
import { logicalField } from "../fields/logical-field.ts";
import type { Counter, CounterFilter } from "./counter-store.ts";
import { fewerGroups, groupName } from "./groups.ts";
import { ALERT_FUTURE_MAX_MS, ALERT_PAST_MAX_MS, GROUP_COLUMNS } from "./limits.ts";

const NANOS_PER_MILLI = 1_000_000n;
const NANOS_PER_SECOND = 1_000_000_000n;

/** What says which entries a counter counts, and how apart from each other. */
type Counting = CounterFilter & Pick<Counter, "bucketSec">;

/**
 * How many entries a counter has in each bucket that has any: the bucket's number since 1970, the values that it groups by, the
 * count and, by the clock of alerts, the times of the first and the last of the entries, in milliseconds. At most as many
 * rows as there are entries.
 */
export function countsPlan(counter: Counting): Relation {
  const logs = scan("logs");
  const { clock } = counter;
  const predicate = predicateOf(counter);
  return countsOf(filter(logs, clock === "alert" ? allOf([isTimely(logs), predicate]) : predicate), counter);
}

/** The same of those entries alone that came at a moment or later, or have such a time. */
export function countsSincePlan(counter: Counting, sinceMs: number): Relation {
  const logs = scan("logs");
  const since = literal("datetime", BigInt(sinceMs) * NANOS_PER_MILLI);
  const isSince = anyOf(
    [columnOf(logs, "receivedAt"), timeOf(logs, "alert")].map((time) => call("greaterOrEqual", time, since)),
  );
  return countsOf(filter(logs, allOf([isTimely(logs), isSince, predicateOf(counter)])), counter);
}

/** A counter, and tests of which one holds of every entry that it counts; null where any entry may be counted. */
export interface ReachedCounter {
  readonly counter: Counter;
  readonly tests: readonly ReachTest[] | null;
}

/**
 * The same for several counters of whichever organisations, alike in their buckets, their clock and what they group by, in one pass:
 * for each organisation, the number of the counter among them, then as of one alone.
 */
export function countsOfEachPlan(reached: readonly [ReachedCounter, ...ReachedCounter[]]): Aggregate {
  const logs = scan("logs");
  const [{ counter }, ...others] = reached;
  const tests = reached.map((each) => each.tests);
  const conditions = [
    ...(counter.clock === "own" ? [] : [isTimely(logs)]),
    // A test for all is quicker than each condition, and leaves few entries to try those on.
    ...(tests.every((each) => each !== null) ? [reachedBy(tests.flat())] : []),
  ];
  const counted = conditions.length === 0 ? logs : filter(logs, allOf(conditions));
  const caseOfCounter = (each: ReachedCounter): OrganizationCase => ({
    organizationId: each.counter.organizationId,
    condition: predicateOf(each.counter),
  });
  const number = caseOf([caseOfCounter({ counter, tests: null }), ...others.map(caseOfCounter)]);
  return countsOf(counted, counter, [{ name: "counter", expression: number }]);
}

function countsOf(
  counted: Relation,
  { bucketSec, clock, groupBy }: Omit<Counting, "kql">,
  before: readonly NamedExpression[] = [],
): Aggregate {
  const time = timeOf(counted, clock);
  const bucket = timeBucket(time, 0n, BigInt(bucketSec) * NANOS_PER_SECOND);
  const millis = timeBucket(time, 0n, NANOS_PER_MILLI);
  return aggregate(
    counted,
    [...before, { name: "bucket", expression: bucket }, ...groupsOf(counted, groupBy)],
    [
      aggregateCall("n", "count"),
      ...(clock === "own"
        ? []
        : [aggregateCall("first", "min", millis), aggregateCall("last", "max", millis)]),
    ],
  );
}

/** What a counter has found in a bucket; times are milliseconds since 1970. */
export interface BucketCount {
  readonly bucketMs: number;
  /** The group's name, empty where the counter has none. */
  readonly group: string;
  readonly n: number;
  /** Of what stands for groups that are not told apart: how many groups there were, those that are told apart included. */
  readonly groups?: number;
  /** When the first and the last of the entries are; null where the counter does not ask. */
  readonly times: { readonly firstMs: number; readonly lastMs: number } | null;
}

/** What the rows of an answer to `countsPlan` say. */
export function countsIn(rows: readonly (readonly unknown[])[], counter: Counting): BucketCount[] {
  const { bucketSec, clock, groupBy } = counter;
  const counts = rows.map(([bucket, ...cells]): BucketCount => {
    const [n, firstMs, lastMs] = cells.slice(groupBy.length);
    const times = clock === "own" ? null : { firstMs: Number(firstMs), lastMs: Number(lastMs) };
    const group = groupName(cells.slice(0, groupBy.length));
    return { bucketMs: Number(bucket) * bucketSec * 1000, group, n: Number(n), times };
  });
  return groupBy.length === 0 ? counts : fewerGroups(counts);
}

/** How many entries of a counter were old when they came, so that alerts leave them out. */
export function oldCountPlan(counter: CounterFilter): Relation {
  const logs = scan("logs");
  const old = filter(logs, allOf([call("not", isTimely(logs)), predicateOf(counter)]));
  return aggregate(old, [], [aggregateCall("n", "count")]);
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
      ...(clock === "alert" ? [isTimely(logs)] : []),
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

/** What was made of filters, as long as anybody holds them: each seal asks for the same ones again. */
const predicates = new WeakMap<CounterFilter, Expression>();

/** Throws KQL_INVALID for conditions that do more than let entries through one by one. */
export function predicateOf(filter: CounterFilter): Expression {
  const known = predicates.get(filter);
  if (known !== undefined) return known;
  const made = makePredicate(filter);
  predicates.set(filter, made);
  return made;
}

function makePredicate({ query, kql, service, level }: CounterFilter): Expression {
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
