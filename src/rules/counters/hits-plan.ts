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
  project,
  type Relation,
  scan,
  sort,
  timeBucket,
} from "../../../query/index.ts";
import { ROWS_MAX_READ } from "../live/limits.ts";
import { groupOf, isTimely, predicateOf, timeOf } from "./counter-plan.ts";
import type { CounterFilter } from "./counter-store.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** Which entries of the steps, and what of them. */
interface HitsOf {
  readonly joinField: string;
  /** Of which values are counted; null for none. */
  readonly distinctField: string | null;
  /** By the clock of alerts, the end excluded. */
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The entries of steps that have a value in common, latest first: the id, the time in milliseconds since 1970, that value, the one that
 * is counted, and for each step whether the entry may be it. Entries without the value belong to nothing. At most `ROWS_MAX_READ`,
 * and of each value `maxOfEach` where that is given.
 */
export function hitsPlan(steps: readonly CounterFilter[], of: HitsOf, maxOfEach: number | null): Relation {
  const { hits, join, value, predicates } = hitsOf(steps, of);
  const rows = project(hits, [
    { name: "id", expression: columnOf(hits, "id") },
    { name: "at", expression: timeBucket(timeOf(hits, "alert"), 0n, NANOS_PER_MILLI) },
    { name: "join", expression: join },
    { name: "value", expression: value },
    ...predicates.map((expression, i) => ({ name: `step${i}`, expression })),
  ]);
  const latest = sort(rows, [{ expression: columnOf(rows, "at"), direction: "descending" }]);
  return limit(maxOfEach === null ? latest : limit(latest, maxOfEach, ["join"]), ROWS_MAX_READ);
}

/** How many such entries there are of each value in common: the value, the number. At most `ROWS_MAX_READ` values. */
export function hitCountsPlan(steps: readonly CounterFilter[], of: HitsOf): Relation {
  const { hits, join } = hitsOf(steps, of);
  return limit(
    aggregate(hits, [{ name: "join", expression: join }], [aggregateCall("n", "count")]),
    ROWS_MAX_READ,
  );
}

function hitsOf(
  steps: readonly CounterFilter[],
  { joinField, distinctField, fromMs, toMs }: HitsOf,
): { hits: Relation; join: Expression; value: Expression; predicates: readonly Expression[] } {
  const logs = scan("logs");
  const time = timeOf(logs, "alert");
  const join = groupOf(logs, joinField);
  const value = distinctField === null ? literal("string", "") : groupOf(logs, distinctField);
  const predicates = steps.map(predicateOf);
  const hits = filter(
    logs,
    allOf([
      isTimely(logs),
      call("greaterOrEqual", time, literal("datetime", BigInt(fromMs) * NANOS_PER_MILLI)),
      call("less", time, literal("datetime", BigInt(toMs) * NANOS_PER_MILLI)),
      anyOf(predicates),
      call("notEqual", join, literal("string", "")),
      ...(distinctField === null ? [] : [call("notEqual", value, literal("string", ""))]),
    ]),
  );
  return { hits, join, value, predicates };
}
