import {
  aggregate,
  aggregateCall,
  anyOf,
  call,
  columnOf,
  type Expression,
  filteredLogs,
  type LogFilter,
  limit,
  literal,
  type Relation,
  sort,
  timeBucket,
} from "../../../../query/index.ts";
import { fieldText } from "../field-name.ts";
import { type BucketSeries, NANOS_PER_SECOND } from "./buckets.ts";

/** One row: the earliest and the latest time, null where nothing matches. */
export function extentPlan(filter: LogFilter): Relation {
  const logs = filteredLogs(filter);
  const ts = columnOf(logs, "ts");
  return aggregate(logs, [], [aggregateCall("first", "min", ts), aggregateCall("last", "max", ts)]);
}

/** The most frequent values of a field: value and count, the most frequent first. */
export function topValuesPlan(filter: LogFilter, field: string, maxValues: number): Relation {
  const logs = filteredLogs(filter);
  const counted = aggregate(
    logs,
    [{ name: "value", expression: fieldText(logs, field) }],
    [aggregateCall("entries", "count")],
  );
  const ordered = sort(counted, [
    { expression: columnOf(counted, "entries"), direction: "descending" },
    { expression: columnOf(counted, "value"), direction: "ascending" },
  ]);
  return limit(ordered, maxValues);
}

/** Entries in each bucket that has any: its number and the count. */
export function bucketsPlan(filter: LogFilter, series: BucketSeries): Relation {
  const logs = filteredLogs(filter);
  return aggregate(logs, [bucketOf(logs, series)], [aggregateCall("entries", "count")]);
}

/** As `bucketsPlan`, for each level: number, level, count. */
export function levelBucketsPlan(filter: LogFilter, series: BucketSeries): Relation {
  const logs = filteredLogs(filter);
  const level = { name: "level", expression: columnOf(logs, "level") };
  return aggregate(logs, [bucketOf(logs, series), level], [aggregateCall("entries", "count")]);
}

/** As `bucketsPlan`, for each of the values, and for all others together: number, value, whether one of them, count. */
export function groupedBucketsPlan(
  filter: LogFilter,
  series: BucketSeries,
  field: string,
  values: readonly string[],
): Relation {
  const logs = filteredLogs(filter);
  const value = fieldText(logs, field);
  const isNamed: Expression =
    values.length === 0
      ? literal("bool", false)
      : anyOf(values.map((text) => call("equal", value, literal("string", text))));
  return aggregate(
    logs,
    [
      bucketOf(logs, series),
      { name: "value", expression: call("iff", isNamed, value, literal("string", "")) },
      { name: "isNamed", expression: isNamed },
    ],
    [aggregateCall("entries", "count")],
  );
}

function bucketOf(logs: Relation, { startNs, widthSec }: BucketSeries) {
  const bucket = timeBucket(columnOf(logs, "ts"), startNs, BigInt(widthSec) * NANOS_PER_SECOND);
  return { name: "bucket", expression: bucket };
}
