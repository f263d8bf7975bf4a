import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { DependencyError } from "../../errors.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import type { CounterFilter } from "../counters/counter-store.ts";
import { hitsPlan } from "../counters/hits-plan.ts";
import type { TimeSpan } from "../evaluation/bucket-sums.ts";
import { COUNTING_BUDGET } from "../seal/limits.ts";
import type { Correlation, CorrelationHit, Hits } from "./find-correlated.ts";
import { ROWS_MAX_READ } from "./limits.ts";

const NANOS_PER_MILLI = 1_000_000n;

interface HitsReading {
  readonly hits: Hits;
  /** There are more than were read: the latest were. */
  readonly isCut: boolean;
}

/** Reads the entries that rules about several entries are about. */
export class HitsReader {
  readonly #ranges: Pick<LogRanges, "read">;

  constructor(ranges: Pick<LogRanges, "read">) {
    this.#ranges = ranges;
  }

  /** Those of the steps in a span, with a value in common. Throws DependencyError and what reading logs throws. */
  async read(
    caller: QueryCaller,
    correlation: Correlation,
    steps: readonly CounterFilter[],
    { fromMs, toMs }: TimeSpan,
  ): Promise<HitsReading> {
    const distinctField = correlation.kind === "cardinality" ? correlation.distinctField : null;
    const plan = hitsPlan(steps, { joinField: correlation.joinField, distinctField, fromMs, toMs });
    const { value, coverage } = await this.#ranges.read(caller, (logs) =>
      logs.run({
        ...{ operation: "rule_hits", plan, maxRows: ROWS_MAX_READ, budget: COUNTING_BUDGET },
        // What says that it comes from the future is counted when it came, so there is no end.
        timeRange: { from: BigInt(fromMs) * NANOS_PER_MILLI, to: null },
      }),
    );
    if (coverage.partial)
      throw new DependencyError("archive", "archived entries cannot be read", { retryable: true });
    const list = value.rows.map(
      ([id, atMs, join, distinct, ...isStep]): CorrelationHit => ({
        ...{ id: String(id), atMs: Number(atMs), join: String(join), value: String(distinct) },
        steps: isStep.flatMap((is, i) => (is === true || is === 1 ? [i] : [])),
      }),
    );
    return { hits: { stepCount: steps.length, list }, isCut: list.length === ROWS_MAX_READ };
  }
}
