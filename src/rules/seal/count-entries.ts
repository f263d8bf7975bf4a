import { ALL_TIME, emit, guardPlanOfEach, type MadeSpan } from "../../../query/index.ts";
import { FairShare } from "../../concurrency/fair-share.ts";
import { MemoryShare } from "../../concurrency/memory-share.ts";
import type { QueryRunner } from "../../storage/query-runner.ts";
import {
  type BucketCount,
  countsIn,
  countsOfEachPlan,
  type ReachedCounter,
} from "../counters/counter-plan.ts";
import type { Counter } from "../counters/counter-store.ts";
import { isOfTheCounter } from "../counters/refusals.ts";
import {
  COUNTING_BUDGET,
  COUNTING_MEMORY_BYTES,
  SEAL_MAX_ENTRIES,
  STATEMENT_MAX_COUNTERS,
} from "./limits.ts";

/** What one of several counters has found. */
export interface CounterCount extends BucketCount {
  readonly counter: Counter;
}

/** What counters have found, and those of them that could not be asked because of what they are. */
interface Counted {
  readonly counts: readonly CounterCount[];
  readonly failed: readonly Counter[];
}

/** Counters that one statement counts. */
type Together = readonly [ReachedCounter, ...ReachedCounter[]];

/**
 * Joined to one expression, what conditions have in common would be computed for each of them anew, for the store evaluates lazily
 * what stands in a branch: of fifty conditions on one attribute that is nearly all of the work.
 */
const ONCE_FOR_ALL = { query_plan_merge_expressions: "0" };

/** Nobody: the server asks for itself, about everybody. */
const NOBODY = 0;

/** Counts the entries of a span, at most `SEAL_MAX_ENTRIES`, by the counters of organisations. */
export class EntryCounting {
  readonly #runner: Pick<QueryRunner, "run">;
  readonly #answerMaxRows: number;
  readonly #memory = new FairShare(COUNTING_MEMORY_BYTES);

  /** `answerMaxRows`: by default as many as an answer may have. */
  constructor(runner: Pick<QueryRunner, "run">, answerMaxRows = SEAL_MAX_ENTRIES) {
    this.#runner = runner;
    this.#answerMaxRows = answerMaxRows;
  }

  /** Throws DependencyError when the store cannot be asked. */
  async count(counters: readonly ReachedCounter[], span: MadeSpan, signal: AbortSignal): Promise<Counted> {
    const counts: CounterCount[] = [];
    const failed: Counter[] = [];
    for (const together of statementsOf(counters)) {
      const counted = await this.#countTogether(together, span, signal);
      for (const each of counted.counts) counts.push(each);
      for (const each of counted.failed) failed.push(each);
    }
    return { counts, failed };
  }

  /** One that the store refuses, or that has too much to say, must not keep others from being counted: the halves are asked apart. */
  async #countTogether(together: Together, span: MadeSpan, signal: AbortSignal): Promise<Counted> {
    const halves = halvesOf(together);
    try {
      const rows = await this.#ask(together, span, signal);
      // One counter has no more rows than there are entries.
      if (rows.length < this.#answerMaxRows || halves === null)
        return { counts: countsOf(rows, together), failed: [] };
    } catch (error) {
      if (!isOfTheCounter(error) || signal.aborted) throw error;
      if (halves === null) return { counts: [], failed: together.map(({ counter }) => counter) };
    }
    const apart: Counted[] = [];
    for (const half of halves) apart.push(await this.#countTogether(half, span, signal));
    return {
      counts: apart.flatMap(({ counts }) => counts),
      failed: apart.flatMap(({ failed }) => failed),
    };
  }

  async #ask(
    together: Together,
    span: MadeSpan,
    signal: AbortSignal,
  ): Promise<readonly (readonly unknown[])[]> {
    const memory = new MemoryShare(this.#memory, [NOBODY]);
    try {
      const plan = guardPlanOfEach(countsOfEachPlan(together), {
        timeRange: ALL_TIME,
        made: { are: "in", spans: [span] },
        maxRows: this.#answerMaxRows,
        budget: COUNTING_BUDGET,
      });
      const caller = { organizationId: NOBODY, userId: NOBODY, signal, memory };
      const compiled = emit(plan);
      const settings = { ...compiled.settings, ...ONCE_FOR_ALL };
      return (await this.#runner.run("seal", { ...compiled, settings }, caller)).rows;
    } finally {
      memory.close();
    }
  }
}

function countsOf(rows: readonly (readonly unknown[])[], together: Together): CounterCount[] {
  const byNumber = Map.groupBy(rows, ([, number]) => Number(number));
  return together.flatMap(({ counter }, number) => {
    // Whose an entry is stands in the condition as well: what a counter counts is its organisation's, whatever a plan says.
    const own = (byNumber.get(number) ?? []).filter(
      ([organization]) => Number(organization) === counter.organizationId,
    );
    return countsIn(
      own.map(([, , ...cells]) => cells),
      counter,
    ).map((count) => ({ counter, ...count }));
  });
}

/** Counters that one statement can count: of one width of buckets, one clock and the same groups, and not too many. */
function statementsOf(counters: readonly ReachedCounter[]): Together[] {
  const alike = new Map<string, [ReachedCounter, ...ReachedCounter[]][]>();
  for (const reached of counters) {
    const { bucketSec, clock, groupBy } = reached.counter;
    // One that any entry may be of makes every entry one to look at.
    const key = JSON.stringify([bucketSec, clock, reached.tests === null, ...groupBy]);
    const statements = alike.get(key) ?? [];
    const last = statements.at(-1);
    if (last !== undefined && last.length < STATEMENT_MAX_COUNTERS) last.push(reached);
    else statements.push([reached]);
    alike.set(key, statements);
  }
  return [...alike.values()].flat();
}

/** Null for one alone. */
function halvesOf(together: Together): readonly [Together, Together] | null {
  const middle = Math.ceil(together.length / 2);
  const [[first, ...some], [second, ...others]] = [together.slice(0, middle), together.slice(middle)];
  if (first === undefined || second === undefined) return null;
  return [
    [first, ...some],
    [second, ...others],
  ];
}
