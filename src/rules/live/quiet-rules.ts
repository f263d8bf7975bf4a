import type { TimeSpan } from "../evaluation/bucket-sums.ts";
import { bucketMsOf, countedSpan } from "../evaluation/bucket-sums.ts";
import { metricBuckets } from "../evaluation/metric-windows.ts";
import { readRows } from "../seal/read-rows.ts";
import type { SignalTable } from "../seal/signal-store.ts";
import type { DueRule } from "./due-rules.ts";
import { reachedSpan } from "./find-stretches.ts";
import type { LiveRule } from "./live-store.ts";

/** A rule that has something to look at, of a form that this server knows. */
export type KnownRule = DueRule & LiveRule;

/** So many entries a counter must have in a span, or the rule finds nothing: of one group, or of all together. */
interface Need {
  readonly counterId: number;
  readonly span: TimeSpan;
  readonly least: number;
  readonly of: "group" | "all";
}

/** Enough for the bucket in which a time lies. */
const BUCKET_MAX_MS = bucketMsOf(Number.POSITIVE_INFINITY);

/**
 * The rules of which nothing can follow from what came, for their windows hold too little, or are not over: found out of all of them by one
 * statement, which reads the same counts as their evaluation. Of one that is not among them something may follow, or nothing.
 * Throws DependencyError.
 */
export async function quietRules(
  { endpoint }: SignalTable,
  rules: readonly KnownRule[],
  signal: AbortSignal,
): Promise<readonly KnownRule[]> {
  const inTime = rules.filter(({ isWoken, failures }) => !isWoken && failures === 0);
  const needs = new Map(inTime.map((rule) => [rule, needsOf(rule)]));
  const asked = [...needs.values()].flat();
  const counted = asked.length === 0 ? new Map() : await mostIn(endpoint, inTime, asked, signal);
  const isMissed = ({ counterId, least, of }: Need): boolean => (counted.get(counterId)?.[of] ?? 0) < least;
  return inTime.filter((rule) => areWindowsOpen(rule) || (needs.get(rule) ?? []).some(isMissed));
}

/** Whether all that came lies in windows that are judged when they are over. */
function areWindowsOpen({ definition, judgedMs, spans }: KnownRule): boolean {
  const { condition, windowMs, noDataMs = null } = definition;
  if (judgedMs === null || noDataMs !== null) return false;
  if (condition.kind !== "anomaly" && condition.kind !== "metric") return false;
  const stepMs = condition.kind === "anomaly" ? windowMs : metricBuckets(windowMs / 1000).bucketMs;
  return spans.length > 0 && spans.every(({ fromMs }) => Math.floor(fromMs / stepMs) * stepMs >= judgedMs);
}

/** What the rule needs each of; none where that says nothing. */
function needsOf({ definition, counterIds, spans, isWatched, hasNote }: KnownRule): Need[] {
  const { condition, windowMs, noDataMs = null } = definition;
  // What came last is read when it is long ago; of groups it is not, for one that is new is kept when it comes.
  const isAwaited = noDataMs !== null && !isWatched;
  if (spans.length === 0 || isAwaited || hasNote) return [];
  const came = {
    fromMs: Math.min(...spans.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...spans.map(({ toMs }) => toMs)),
  };
  if (condition.kind === "threshold") {
    // What is open may go on with fewer: that is found when it would be over, among all that came by then.
    const span = countedSpan(reachedSpan(came, windowMs), windowMs);
    return counterIds.map((counterId) => ({ counterId, span, least: condition.threshold, of: "group" }));
  }
  if (condition.kind !== "sequence" && condition.kind !== "cardinality") return [];
  const span = {
    fromMs: came.fromMs - windowMs - BUCKET_MAX_MS,
    toMs: came.toMs + windowMs + BUCKET_MAX_MS,
  };
  // Its counters do not know what was before the rule, which counts for what comes after.
  if (span.fromMs < condition.sinceMs) return [];
  const least = condition.kind === "sequence" ? 1 : condition.threshold;
  return counterIds.map((counterId) => ({ counterId, span, least, of: "all" }));
}

/** How many entries the group has that has most in the span, and all together; by counter, without those that have none. */
type Most = ReadonlyMap<number, Readonly<Record<Need["of"], number>>>;

async function mostIn(
  endpoint: SignalTable["endpoint"],
  rules: readonly KnownRule[],
  needs: readonly Need[],
  signal: AbortSignal,
): Promise<Most> {
  const list = (values: readonly number[]): string => `[${values.join(",")}]`;
  const rows = await readRows(
    endpoint,
    `WITH {counters: Array(UInt64)} AS counters,
          transform(key, counters, {from: Array(Int64)}, toInt64(0)) AS from_ms,
          transform(key, counters, {to: Array(Int64)}, toInt64(0)) AS to_ms
     SELECT key, max(entries), sum(entries) FROM (
       SELECT key, sum(n) AS entries FROM signals
       WHERE organization_id IN {organizations: Array(UInt32)} AND kind = 'count' AND key IN counters
         AND bucket >= fromUnixTimestamp64Milli({first: Int64})
         AND bucket >= fromUnixTimestamp64Milli(from_ms) AND bucket < fromUnixTimestamp64Milli(to_ms)
       GROUP BY organization_id, key, group_hash)
     GROUP BY key`,
    {
      organizations: list([...new Set(rules.map(({ organizationId }) => organizationId))]),
      counters: list(needs.map(({ counterId }) => counterId)),
      from: list(needs.map(({ span }) => span.fromMs)),
      to: list(needs.map(({ span }) => span.toMs)),
      first: String(Math.min(...needs.map(({ span }) => span.fromMs))),
    },
    signal,
  );
  return new Map(rows.map(([key, group, all]) => [Number(key), { group: Number(group), all: Number(all) }]));
}
