import type { Sql } from "postgres";
import type { MadeEntries, Relation } from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { FairShare } from "../../concurrency/fair-share.ts";
import { MemoryShare } from "../../concurrency/memory-share.ts";
import { DependencyError } from "../../errors.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { type BucketCount, countsIn, countsSincePlan, timesPlan } from "../counters/counter-plan.ts";
import type { Counter } from "../counters/counter-store.ts";
import { groupName } from "../counters/groups.ts";
import type { TimeSpan } from "../evaluation/bucket-sums.ts";
import { COUNTING_BUDGET, COUNTING_MEMORY_BYTES } from "../seal/limits.ts";
import { countedSpans } from "../streams/stream-store.ts";
import { ROWS_MAX_READ } from "./limits.ts";

/** How many entries of a group have a time, in milliseconds since 1970. */
export interface GroupTime {
  readonly group: string;
  readonly atMs: number;
  readonly n: number;
}

const NANOS_PER_MILLI = 1_000_000n;

/** Reads the exact times of entries that are counted. */
export class TimesReader {
  readonly #sql: Sql;
  readonly #ranges: Pick<LogRanges, "read">;
  readonly #memory = new FairShare(COUNTING_MEMORY_BYTES);

  constructor(sql: Sql, ranges: Pick<LogRanges, "read">) {
    this.#sql = sql;
    this.#ranges = ranges;
  }

  /** Those of a counter in the spans, as far as streams were sealed. */
  async read(
    counter: Counter,
    spans: readonly TimeSpan[],
    sealed: ReadonlyMap<number, bigint>,
    signal: AbortSignal,
  ): Promise<GroupTime[]> {
    const counted = await askPostgres(() => countedSpans(this.#sql, counter.id, "open"));
    const uncounted = counted.map(({ streamId, instance, after, through }) => {
      const mark = sealed.get(streamId);
      return { instance, after: mark === undefined || mark < after ? after : mark, through };
    });
    const made: MadeEntries = { are: "outside", spans: uncounted };
    const times: GroupTime[] = [];
    for (const span of spans) {
      const rows = await this.#ask(counter, timesPlan(counter, span), span.fromMs, made, signal);
      for (const [at, ...cells] of rows)
        times.push({
          group: groupName(cells.slice(0, counter.groupBy.length)),
          atMs: Number(at),
          n: Number(cells.at(-1)),
        });
    }
    return times;
  }

  /**
   * What of the buckets that begin in a span came at a moment or later, or is from then or later, counted or not yet: what is not will
   * be, and is no less of then.
   */
  async readSince(
    counter: Counter,
    { fromMs, toMs }: TimeSpan,
    sinceMs: number,
    signal: AbortSignal,
  ): Promise<readonly BucketCount[]> {
    const rows = await this.#ask(counter, countsSincePlan(counter, sinceMs), fromMs, null, signal);
    return countsIn(rows, counter).filter(({ bucketMs }) => bucketMs >= fromMs && bucketMs < toMs);
  }

  async #ask(
    { organizationId }: Counter,
    plan: Relation,
    fromMs: number,
    made: MadeEntries | null,
    signal: AbortSignal,
  ): Promise<readonly (readonly unknown[])[]> {
    const memory = new MemoryShare(this.#memory, [organizationId]);
    try {
      const { value, coverage } = await this.#ranges.read(
        { organizationId, userId: 0, signal, memory },
        (logs) =>
          logs.run({
            operation: "rule_times",
            plan,
            // What says that it comes from the future is counted when it came, so there is no end.
            timeRange: { from: BigInt(fromMs) * NANOS_PER_MILLI, to: null },
            ...{ maxRows: ROWS_MAX_READ, budget: COUNTING_BUDGET },
            ...(made !== null && { made }),
          }),
      );
      if (coverage.partial)
        throw new DependencyError("archive", "archived entries cannot be read", { retryable: true });
      return value.rows;
    } finally {
      memory.close();
    }
  }
}
