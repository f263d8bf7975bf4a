import {
  columnOf,
  filter,
  keep,
  limit,
  type QueryBudget,
  type Relation,
  scan,
  sort,
  type TimeRange,
} from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import {
  countsIn,
  countsPlan,
  oldCountPlan,
  predicateOf,
  timesPlan,
} from "../../rules/counters/counter-plan.ts";
import type { Counter, CounterFilter } from "../../rules/counters/counter-store.ts";
import { groupName } from "../../rules/counters/groups.ts";
import type { BucketSum, TimeSpan } from "../../rules/evaluation/bucket-sums.ts";
import type { CountsSource } from "../../rules/live/find-stretches.ts";
import { ROWS_MAX_READ } from "../../rules/live/limits.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { PREVIEW_MAX_SAMPLES } from "./limits.ts";
import { timeText } from "./shown-episode.ts";
import type { Preview } from "./types.ts";

interface EntryCountsDependencies {
  readonly ranges: LogRanges;
  readonly budget: QueryBudget;
}

const NANOS_PER_MILLI = 1_000_000n;
const DAY_MS = 86_400_000;

type Counted = CounterFilter & Pick<Counter, "bucketSec">;

/** What a counter counts, read from the entries. */
export class EntryCounts implements CountsSource {
  readonly #deps: EntryCountsDependencies;
  readonly #caller: QueryCaller;
  readonly #counter: Counted;

  constructor(deps: EntryCountsDependencies, caller: QueryCaller, counter: Counted) {
    this.#deps = deps;
    this.#caller = caller;
    this.#counter = counter;
  }

  readonly sums: CountsSource["sums"] = async ({ fromMs, toMs }, leastEntries) => {
    const rows = await this.#ask(countsPlan(this.#counter), { fromMs });
    const groups = new Map<string, BucketSum[]>();
    let groupsAtOnce = 0;
    for (const { bucketMs, group, n, groups: atOnce = 0, times } of countsIn(rows, this.#counter)) {
      if (bucketMs < fromMs || bucketMs >= toMs) continue;
      groupsAtOnce = Math.max(groupsAtOnce, atOnce);
      const sums = groups.get(group) ?? [];
      sums.push({ startMs: bucketMs, n, ...times });
      groups.set(group, sums);
    }
    for (const [group, sums] of groups)
      if (sums.reduce((total, { n }) => total + n, 0) < leastEntries) groups.delete(group);
    return { groups, sealed: new Map(), groupsAtOnce, isCut: rows.length === ROWS_MAX_READ };
  };

  readonly times: CountsSource["times"] = async (spans) => {
    const { groupBy } = this.#counter;
    const found: { group: string; atMs: number; n: number }[] = [];
    // What says that it comes from the future is counted when it came, so there is no end.
    for (const span of spans)
      for (const [at, ...cells] of await this.#ask(timesPlan(this.#counter, span), { fromMs: span.fromMs }))
        found.push({
          group: groupName(cells.slice(0, groupBy.length)),
          atMs: Number(at),
          n: Number(cells.at(-1)),
        });
    return found;
  };

  /** As a search for the same would. */
  async count({ fromMs, toMs }: TimeSpan): Promise<number> {
    const counter = { ...this.#counter, clock: "own", groupBy: [], bucketSec: DAY_MS / 1000 } as const;
    const rows = await this.#ask(countsPlan(counter), { fromMs, toMs });
    return rows.reduce((total, [, n]) => total + Number(n), 0);
  }

  /** How many of them were old when they came. */
  async countOld({ fromMs, toMs }: TimeSpan): Promise<number> {
    const [row] = await this.#ask(oldCountPlan(this.#counter), { fromMs, toMs });
    return Number(row?.[0] ?? 0);
  }

  /** The latest entries that it counts. */
  async samples({ fromMs, toMs }: TimeSpan): Promise<Preview["samples"]> {
    const logs = filter(scan("logs"), predicateOf(this.#counter));
    const latest = sort(logs, [{ expression: columnOf(logs, "ts"), direction: "descending", nulls: "last" }]);
    const rows = await this.#ask(keep(limit(latest, PREVIEW_MAX_SAMPLES), ["id", "ts", "message"]), {
      fromMs,
      toMs,
    });
    return rows.map(([id, ts, message]) => ({
      ...{ id: String(id), message: String(message) },
      ts: timeText(Number(BigInt(String(ts)) / NANOS_PER_MILLI)),
    }));
  }

  async #ask(
    plan: Relation,
    { fromMs, toMs }: { fromMs: number; toMs?: number },
  ): Promise<readonly (readonly unknown[])[]> {
    const { ranges, budget } = this.#deps;
    const timeRange: TimeRange = {
      from: BigInt(fromMs) * NANOS_PER_MILLI,
      to: toMs === undefined ? null : BigInt(toMs) * NANOS_PER_MILLI - 1n,
    };
    const { value } = await ranges.read(this.#caller, (logs) =>
      logs.run({ operation: "alert_preview", plan, timeRange, maxRows: ROWS_MAX_READ, budget }),
    );
    return value.rows;
  }
}
