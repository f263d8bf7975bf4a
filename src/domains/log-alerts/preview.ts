import type { Sql } from "postgres";
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
import { validationFailed } from "../../errors.ts";
import { namesWithin } from "../../kql/kept/kept-directory.ts";
import { countsIn, countsPlan, predicateOf, timesPlan } from "../../rules/counters/counter-plan.ts";
import type { Counter } from "../../rules/counters/counter-store.ts";
import { groupName } from "../../rules/counters/groups.ts";
import type { Verdict } from "../../rules/evaluation/anomaly.ts";
import type { BucketSum, TimeSpan } from "../../rules/evaluation/bucket-sums.ts";
import { joinedStretches } from "../../rules/evaluation/stretches.ts";
import { conditionOf, type RuleDefinition } from "../../rules/live/definition.ts";
import { silences } from "../../rules/live/find-missing.ts";
import {
  bucketSecOf,
  type CountsSource,
  findAnomaly,
  findThreshold,
} from "../../rules/live/find-stretches.ts";
import { ROWS_MAX_READ } from "../../rules/live/limits.ts";
import { explainThreshold } from "../../rules/live/tell.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { wholeOf } from "./alerts.ts";
import { type AlertTerms, counterOf, definitionOf, requireTerms } from "./definition.ts";
import { PREVIEW_DEFAULT_MS, PREVIEW_MAX_EPISODES, PREVIEW_MAX_MS, PREVIEW_MAX_SAMPLES } from "./limits.ts";
import { previewQuery } from "./preview-query.ts";
import { groupOf, shownEpisode, type Told, timeText } from "./shown-episode.ts";
import type { Preview, PreviewBody } from "./types.ts";

export interface PreviewDependencies {
  readonly sql: Sql;
  readonly ranges: LogRanges;
  readonly budget: QueryBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const NANOS_PER_MILLI = 1_000_000n;
const DAY_MS = 86_400_000;

/**
 * What a rule would have found in a range that is over: by the same code as one that is live, over entries instead of
 * counts. Throws VALIDATION_FAILED, KQL_INVALID and what reading logs throws.
 */
export function previewAlert(
  deps: PreviewDependencies,
  caller: QueryCaller,
  { from, to, ...body }: PreviewBody,
): Promise<Preview> {
  const channels = Object.keys(body).filter((name) => name.startsWith("alert"));
  return previewTerms(deps, caller, wholeOf(body), { from, to, channels });
}

/** The same of a rule's terms; `channels` are whom it would tell. Where it is historic, old files that came in the meantime count. */
export async function previewTerms(
  deps: PreviewDependencies,
  caller: QueryCaller,
  terms: AlertTerms,
  of: {
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly channels: string[];
    readonly isHistoric?: boolean;
  },
): Promise<Preview> {
  const { from, to, channels, isHistoric = false } = of;
  const { organizationId } = caller;
  const kept = await askPostgres(() =>
    inOrganization(deps.sql, organizationId, (tx) => namesWithin(tx, organizationId)),
  );
  requireTerms(terms, deps.now(), kept);
  const span = spanOf(from, to, deps.now());
  if (terms.kind === "scheduled") return previewQuery(deps, caller, terms, span, channels);
  const definition = definitionOf(terms);
  const counter: Counter = {
    ...{ id: 0, organizationId: caller.organizationId, ...counterOf(terms, deps.now()) },
    ...(isHistoric && { clock: "own" }),
  };
  const reader = new EntryReader(deps, caller, counter);
  const { told, verdicts, isCut } = await findTold(definition, counter, span, reader);
  const sorted = told.toSorted((left, right) => left.fromMs - right.fromMs);
  return {
    matched: await reader.count(span),
    episodes: sorted.slice(0, PREVIEW_MAX_EPISODES).map((each) => shownEpisode(terms.groupBy, each)),
    episodesTotal: sorted.length,
    episodesPerDay: Number(((sorted.length * DAY_MS) / (span.toMs - span.fromMs)).toPrecision(3)),
    band: verdicts.map(({ startMs, value, expected, low, high }) => {
      return { start: timeText(startMs), value, expected, low, high };
    }),
    samples: await reader.samples(span),
    noData: await missingIn(terms, definition, span, reader),
    channels,
    truncated: isCut || sorted.length > PREVIEW_MAX_EPISODES,
  };
}

/** When entries were missing: of a rule without groups from the beginning on, of groups after their first entry. */
async function missingIn(
  { groupBy }: AlertTerms,
  { noDataMs = null, windowMs }: RuleDefinition,
  span: TimeSpan,
  reader: EntryReader,
): Promise<Preview["noData"]> {
  if (noDataMs === null) return [];
  const bucketMs = bucketSecOf({ kind: "threshold", windowMs }) * 1000;
  const fromMs = Math.floor(span.fromMs / bucketMs) * bucketMs;
  const { groups } = await reader.sums({ fromMs, toMs: span.toMs }, 1);
  if (groupBy.length === 0 && groups.size === 0)
    return silences([], span, noDataMs).map((each) => missingOf(groupBy, "", each));
  const found = [...groups].flatMap(([group, sums]) => {
    const firstMs = Math.min(...sums.map(({ startMs }) => startMs));
    const known = { fromMs: groupBy.length === 0 ? span.fromMs : firstMs, toMs: span.toMs };
    return silences(sums, known, noDataMs).map((each) => missingOf(groupBy, group, each));
  });
  return found.slice(0, PREVIEW_MAX_EPISODES);
}

function missingOf(groupBy: readonly string[], group: string, { fromMs, toMs }: TimeSpan) {
  return { group: groupOf(groupBy, group), from: timeText(fromMs), to: timeText(toMs) };
}

async function findTold(
  definition: RuleDefinition,
  { bucketSec }: Counter,
  { fromMs, toMs }: TimeSpan,
  reader: EntryReader,
): Promise<{ told: Told[]; verdicts: readonly Verdict[]; isCut: boolean }> {
  const condition = conditionOf(definition);
  const bucketMs = bucketSec * 1000;
  const points = {
    fromMs: Math.floor(fromMs / bucketMs) * bucketMs,
    toMs: Math.ceil(toMs / bucketMs) * bucketMs,
  };
  if (condition.kind === "threshold") {
    const { groups, isCut } = await findThreshold(condition, [points], reader);
    const told = [...groups].flatMap(([group, found]) =>
      joinedStretches(found, definition.windowMs).map((each) => {
        return { ...each, group, because: explainThreshold(definition, condition.threshold, each.peak) };
      }),
    );
    return { told, verdicts: [], isCut };
  }
  // What is not over cannot be judged.
  const whole = { fromMs: points.fromMs, toMs: Math.floor(toMs / bucketMs) * bucketMs };
  const sinceMs = whole.fromMs - condition.baselineMs;
  const { unusual, verdicts } = await findAnomaly(condition, whole, sinceMs, () => false, reader);
  const reasons = new Map(unusual.map((each) => [each.fromMs, each.because]));
  const told = joinedStretches(unusual, definition.windowMs).map((each) => {
    return { ...each, group: "", because: reasons.get(each.fromMs) ?? "" };
  });
  return { told, verdicts, isCut: false };
}

/** What a counter counts, read from the entries. */
class EntryReader implements CountsSource {
  readonly #deps: PreviewDependencies;
  readonly #caller: QueryCaller;
  readonly #counter: Counter;

  constructor(deps: PreviewDependencies, caller: QueryCaller, counter: Counter) {
    this.#deps = deps;
    this.#caller = caller;
    this.#counter = counter;
  }

  readonly sums: CountsSource["sums"] = async ({ fromMs, toMs }, leastEntries) => {
    const rows = await this.#ask(countsPlan(this.#counter), { fromMs });
    const groups = new Map<string, BucketSum[]>();
    for (const { bucketMs, group, n, times } of countsIn(rows, this.#counter)) {
      if (bucketMs < fromMs || bucketMs >= toMs) continue;
      const sums = groups.get(group) ?? [];
      sums.push({ startMs: bucketMs, n, ...times });
      groups.set(group, sums);
    }
    for (const [group, sums] of groups)
      if (sums.reduce((total, { n }) => total + n, 0) < leastEntries) groups.delete(group);
    return { groups, sealed: new Map(), isCut: rows.length === ROWS_MAX_READ };
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

function spanOf(from: string | undefined, to: string | undefined, nowMs: number): TimeSpan {
  // What came just now is in it.
  const endMs = nowMs + 1;
  const toMs = to === undefined ? endMs : Math.min(endMs, Date.parse(to));
  const fromMs = from === undefined ? toMs - PREVIEW_DEFAULT_MS : Date.parse(from);
  if (fromMs >= toMs)
    throw validationFailed([{ path: "/from", code: "custom", message: "is not earlier than `to`" }]);
  if (toMs - fromMs > PREVIEW_MAX_MS)
    throw validationFailed([
      {
        path: "/from",
        code: "custom",
        message: `is more than ${PREVIEW_MAX_MS / DAY_MS} days earlier than \`to\``,
      },
    ]);
  return { fromMs, toMs };
}
