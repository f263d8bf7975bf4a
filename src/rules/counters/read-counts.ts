import type { Sql } from "postgres";
import type { MadeEntries, QueryBudget } from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { readCounter, type SignalTable } from "../seal/signal-store.ts";
import { countedSpans } from "../streams/stream-store.ts";
import { countsPlan } from "./counter-plan.ts";
import { type EntryFilter, plainCounter } from "./counter-store.ts";

export interface CountsDependencies {
  readonly sql: Sql;
  readonly signals: SignalTable;
  readonly ranges: Pick<LogRanges, "read">;
  readonly budget: QueryBudget;
}

/** Whole buckets: the first one's number since 1970, and that behind the last. */
export interface Buckets {
  readonly widthSec: number;
  readonly first: number;
  readonly end: number;
}

/** How many entries buckets have, by their numbers; without those that have none. */
export type Counts = ReadonlyMap<number, number>;

/** Counts of one answer. */
export const COUNTS_MAX = 50_000;

const NANOS_PER_SECOND = 1_000_000_000n;

/**
 * How many entries a filter lets through, as a search for the same would say: what a counter of it has counted already, and what
 * is stored and not yet counted from the entries; without a counter all of it from the entries. Throws what reading logs throws.
 */
export async function readCounts(
  deps: CountsDependencies,
  caller: QueryCaller,
  filter: EntryFilter,
  buckets: Buckets,
  counterId: number | null,
): Promise<Counts> {
  if (counterId === null) return countEntries(deps, caller, filter, buckets, null);
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
  const fresh = await countEntries(deps, caller, filter, buckets, { are: "in", spans: uncounted });
  const both = new Map(counts);
  for (const [bucket, n] of fresh) both.set(bucket, (both.get(bucket) ?? 0) + n);
  return both;
}

async function countEntries(
  { ranges, budget }: Pick<CountsDependencies, "ranges" | "budget">,
  caller: QueryCaller,
  filter: EntryFilter,
  { widthSec, first, end }: Buckets,
  made: MadeEntries | null,
): Promise<Counts> {
  const widthNs = BigInt(widthSec) * NANOS_PER_SECOND;
  const counter = plainCounter(filter, widthSec);
  const statement = {
    operation: "metric_series",
    plan: countsPlan(counter),
    timeRange: { from: BigInt(first) * widthNs, to: BigInt(end) * widthNs - 1n },
    maxRows: COUNTS_MAX,
    budget,
    ...(made !== null && { made }),
  };
  const { value } = await ranges.read(caller, (logs) =>
    // What is not counted yet came just now, and nothing of it has left the log store.
    made === null ? logs.run(statement) : logs.runHot(statement),
  );
  return new Map(value.rows.map(([bucket, n]) => [Number(bucket), Number(n)]));
}
