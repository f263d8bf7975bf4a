import type { Relation } from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { ApiError, DependencyError } from "../../errors.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { storableText } from "../../storage/storable-text.ts";
import type { Row } from "../../storage/stored-rows.ts";
import type { CounterFilter } from "../counters/counter-store.ts";
import { hitCountsPlan, hitsPlan } from "../counters/hits-plan.ts";
import type { TimeSpan } from "../evaluation/bucket-sums.ts";
import { COUNTING_BUDGET } from "../seal/limits.ts";
import type { Correlation, CorrelationHit, Hits } from "./find-correlated.ts";
import { ROWS_MAX_READ } from "./limits.ts";

const NANOS_PER_MILLI = 1_000_000n;
/** Of a value that is named in a sentence. */
const VALUE_MAX_CHARS = 128;

interface HitsReading {
  readonly hits: Hits;
  /** What was left out, as a sentence for whoever the rule belongs to; null where nothing was. */
  readonly leftOut: string | null;
}

const LEFT_OUT =
  "More entries belong to it than are looked at together: some of what it asks for may be missed.";

/** Reads the entries that rules about several entries are about. */
export class HitsReader {
  readonly #ranges: Pick<LogRanges, "read">;

  constructor(ranges: Pick<LogRanges, "read">) {
    this.#ranges = ranges;
  }

  /**
   * Those of the steps in a span, with a value in common. Where there are more than are looked at together, the values with most
   * entries are cut to their latest, and all others are whole. Throws DependencyError and what reading logs throws.
   */
  async read(
    caller: QueryCaller,
    correlation: Correlation,
    steps: readonly CounterFilter[],
    { fromMs, toMs }: TimeSpan,
  ): Promise<HitsReading> {
    const distinctField = correlation.kind === "cardinality" ? correlation.distinctField : null;
    const of = { joinField: correlation.joinField, distinctField, fromMs, toMs };
    const run = async (plan: Relation): Promise<readonly Row[]> => {
      const { value, coverage } = await this.#ranges.read(caller, (logs) =>
        logs.run({
          ...{ operation: "rule_hits", plan, maxRows: ROWS_MAX_READ, budget: COUNTING_BUDGET },
          // What says that it comes from the future is counted when it came, so there is no end.
          timeRange: { from: BigInt(fromMs) * NANOS_PER_MILLI, to: null },
        }),
      );
      if (coverage.partial)
        throw new DependencyError("archive", "archived entries cannot be read", { retryable: true });
      return value.rows;
    };
    const rows = await run(hitsPlan(steps, of, null));
    if (rows.length < ROWS_MAX_READ) return { hits: hitsOf(rows, steps.length), leftOut: null };
    const counts = (await run(hitCountsPlan(steps, of))).map(
      ([join, n]) => [String(join), Number(n)] as const,
    );
    const maxOfEach = counts.length < ROWS_MAX_READ ? fairShare(counts, ROWS_MAX_READ) : null;
    if (maxOfEach === null) return { hits: hitsOf(rows, steps.length), leftOut: LEFT_OUT };
    const shared = await run(hitsPlan(steps, of, maxOfEach)).catch((error: unknown) => {
      // So many that they cannot be put in order: those that came last are better than none.
      if (error instanceof ApiError && error.code === "QUERY_TOO_EXPENSIVE") return rows;
      throw error;
    });
    const cut = counts.filter(([, n]) => n > maxOfEach).toSorted(([, one], [, other]) => other - one);
    const [noisiest] = cut;
    const leftOut =
      shared === rows || noisiest === undefined
        ? LEFT_OUT
        : leftOutOf(noisiest[0], cut.length - 1, maxOfEach);
    return { hits: hitsOf(shared, steps.length), leftOut };
  }
}

function hitsOf(rows: readonly Row[], stepCount: number): Hits {
  const list = rows.map(
    ([id, atMs, join, distinct, ...isStep]): CorrelationHit => ({
      ...{ id: String(id), atMs: Number(atMs), join: String(join), value: String(distinct) },
      steps: isStep.flatMap((is, i) => (is === true || is === 1 ? [i] : [])),
    }),
  );
  return { stepCount, list };
}

/** How many of each are taken where so many are in all, so that who has few has all of them; null where not one is left for each. */
export function fairShare(counts: readonly (readonly [string, number])[], most: number): number | null {
  let left = most;
  const sorted = counts.map(([, n]) => n).toSorted((one, other) => one - other);
  for (const [i, n] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - i));
    if (n > share) return share === 0 ? null : share;
    left -= n;
  }
  return most;
}

function leftOutOf(value: string, others: number, maxOfEach: number): string {
  const shown = storableText([...value].slice(0, VALUE_MAX_CHARS).join(""));
  const more = others === 0 ? "" : others === 1 ? " and 1 other" : ` and ${others} others`;
  return `Only the latest ${maxOfEach} entries of ${shown}${more} were looked at together: some of what it asks for may be missed there.`;
}
