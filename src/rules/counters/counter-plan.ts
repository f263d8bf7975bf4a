import {
  aggregate,
  aggregateCall,
  allOf,
  anyOf,
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
import { conditionsOf } from "../../kql/relation-conditions.ts";
import type { CounterFilter } from "./counter-store.ts";

const NANOS_PER_SECOND = 1_000_000_000n;

/** The entries that are counted. */
function countedEntries({ query, service, level }: CounterFilter): Relation {
  const parsed = parseSearch(query ?? "");
  if (!parsed.ok) throw new TypeError("a counter has a query that is too long");
  return filteredLogs({ search: parsed.condition, service, level });
}

/**
 * How many entries each of the counters has in each bucket that has any for one of them: the bucket's number since 1970,
 * and the counts in their order. At most as many rows as there are entries.
 */
export function countsPlan(counters: readonly CounterFilter[], bucketSec: number): Relation {
  const logs = scan("logs");
  const predicates = counters.map(predicateOf);
  const counted = filter(logs, anyOf(predicates));
  const bucket = timeBucket(columnOf(counted, "ts"), 0n, BigInt(bucketSec) * NANOS_PER_SECOND);
  return aggregate(
    counted,
    [{ name: "bucket", expression: bucket }],
    predicates.map((predicate, i) => aggregateCall(`n${i}`, "countif", predicate)),
  );
}

function predicateOf(counter: CounterFilter): Expression {
  const conditions = conditionsOf(countedEntries(counter));
  if (conditions === null) throw new TypeError("a counter counts what are no entries");
  return conditions.length === 0 ? literal("bool", true) : allOf(conditions);
}
