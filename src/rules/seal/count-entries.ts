import { emit, guardPlan, type MadeSpan } from "../../../query/index.ts";
import { FairShare } from "../../concurrency/fair-share.ts";
import { MemoryShare } from "../../concurrency/memory-share.ts";
import type { QueryRunner } from "../../storage/query-runner.ts";
import { columnsPerCounter, countsPlan } from "../counters/counter-plan.ts";
import type { Counter } from "../counters/counter-store.ts";
import { fewerGroups, groupName } from "../counters/groups.ts";
import { isOfTheCounter } from "../counters/refusals.ts";
import {
  COUNTING_BUDGET,
  COUNTING_MEMORY_BYTES,
  SEAL_MAX_ENTRIES,
  STATEMENT_MAX_COUNTERS,
} from "./limits.ts";

/** What a counter has found in a bucket; times are milliseconds since 1970. */
interface BucketCount {
  readonly bucketMs: number;
  /** The group's name, empty where the counter has none. */
  readonly group: string;
  readonly n: number;
  /** When the first and the last of the entries are; null where the counter does not ask. */
  readonly times: { readonly firstMs: number; readonly lastMs: number } | null;
}

/** What one of several counters has found. */
export interface CounterCount extends BucketCount {
  readonly counter: Counter;
}

/** What counters have found, and those of them that could not be asked because of what they are. */
interface Counted {
  readonly counts: readonly CounterCount[];
  readonly failed: readonly Counter[];
}

/** Nobody: the server asks for itself. */
const SERVER_USER_ID = 0;

/** Counts the entries of a span, at most `SEAL_MAX_ENTRIES`, by the counters of organisations. */
export class EntryCounting {
  readonly #runner: Pick<QueryRunner, "run">;
  readonly #memory = new FairShare(COUNTING_MEMORY_BYTES);

  constructor(runner: Pick<QueryRunner, "run">) {
    this.#runner = runner;
  }

  /** Throws DependencyError when the store cannot be asked. */
  async count(counters: readonly Counter[], span: MadeSpan, signal: AbortSignal): Promise<Counted> {
    const counts: CounterCount[] = [];
    const failed: Counter[] = [];
    for (const together of statementsOf(counters)) {
      const counted = await this.#countTogether(together, span, signal);
      counts.push(...counted.counts);
      failed.push(...counted.failed);
    }
    return { counts, failed };
  }

  /** One that the store refuses must not keep others from being counted: then each is asked apart. */
  async #countTogether(
    counters: readonly [Counter, ...Counter[]],
    span: MadeSpan,
    signal: AbortSignal,
  ): Promise<Counted> {
    try {
      return { counts: await this.#ask(counters, span, signal), failed: [] };
    } catch (error) {
      if (!isOfTheCounter(error) || signal.aborted) throw error;
      if (counters.length === 1) return { counts: [], failed: counters };
      const apart: Counted[] = [];
      for (const counter of counters) apart.push(await this.#countTogether([counter], span, signal));
      return {
        counts: apart.flatMap(({ counts }) => counts),
        failed: apart.flatMap(({ failed }) => failed),
      };
    }
  }

  async #ask(
    counters: readonly [Counter, ...Counter[]],
    span: MadeSpan,
    signal: AbortSignal,
  ): Promise<CounterCount[]> {
    const { organizationId } = counters[0];
    const memory = new MemoryShare(this.#memory, [organizationId]);
    try {
      const plan = guardPlan(countsPlan(counters, counters[0]), {
        organizationId,
        timeRange: { from: null, to: null },
        made: { are: "in", spans: [span] },
        maxRows: SEAL_MAX_ENTRIES,
        budget: COUNTING_BUDGET,
      });
      const caller = { organizationId, userId: SERVER_USER_ID, signal, memory };
      const { rows } = await this.#runner.run("seal", emit(plan), caller);
      return countsIn(rows, counters);
    } finally {
      memory.close();
    }
  }
}

/** What the rows of an answer to `countsPlan` say of each of its counters. */
export function countsIn(
  rows: readonly (readonly unknown[])[],
  counters: readonly [Counter, ...Counter[]],
): CounterCount[] {
  const [{ bucketSec, clock, groupBy }] = counters;
  const width = columnsPerCounter({ clock });
  const found = counters.flatMap((counter, i) =>
    rows.flatMap(([bucket, ...cells]) => {
      const [n, firstMs, lastMs] = cells.slice(groupBy.length + i * width, groupBy.length + (i + 1) * width);
      if (Number(n) === 0) return [];
      const times = clock === "own" ? null : { firstMs: Number(firstMs), lastMs: Number(lastMs) };
      const group = groupName(cells.slice(0, groupBy.length));
      return [{ counter, bucketMs: Number(bucket) * bucketSec * 1000, group, n: Number(n), times }];
    }),
  );
  return groupBy.length === 0 ? found : fewerGroups(found);
}

/** Counters that one statement can count: of one organisation, one width of buckets and one clock, and not too many. */
function statementsOf(counters: readonly Counter[]): [Counter, ...Counter[]][] {
  const alike = new Map<string, [Counter, ...Counter[]][]>();
  for (const counter of counters) {
    const { id, organizationId, bucketSec, clock, groupBy } = counter;
    const key = [organizationId, bucketSec, clock, ...(groupBy.length === 0 ? [] : [id])].join("/");
    const statements = alike.get(key) ?? [];
    const last = statements.at(-1);
    if (last !== undefined && last.length < STATEMENT_MAX_COUNTERS) last.push(counter);
    else statements.push([counter]);
    alike.set(key, statements);
  }
  return [...alike.values()].flat();
}
