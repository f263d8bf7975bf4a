import type { QueryBudget } from "../../../../query/index.ts";
import type { LogRanges } from "../../../archive/reading/log-ranges.ts";
import type { NamesOf } from "../../../kql/kept/kept-directory.ts";
import type { QueryCaller } from "../../../storage/query-runner.ts";
import { formatNs } from "../entry-time.ts";
import { selectionOf } from "../selection.ts";
import {
  PATTERNS_DEFAULT_COUNT,
  SAMPLES_MAX_COUNT,
  SERVICES_MAX_COUNT,
  TREND_BUCKETS,
  VANISHED_MAX_COUNT,
} from "./limits.ts";
import { PatternReader } from "./store.ts";
import { type PatternTally, type TalliedPattern, tallyPatterns } from "./tally.ts";
import type { Pattern, PatternParameters, PatternsAnswer, VanishedPattern } from "./types.ts";
import { windowOf } from "./window.ts";

export interface PatternDependencies {
  readonly ranges: LogRanges;
  /** What one statement may cost. */
  readonly budget: QueryBudget;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** What an organisation keeps for its queries. */
  readonly kept: NamesOf;
  readonly monotonicMs: () => number;
}

type Seen = TalliedPattern & { readonly current: PatternTally };

/**
 * The patterns of the entries that match, with exact counts: those of the patterns and of `other` make up the total.
 * Throws VALIDATION_FAILED for what the parameters' schema cannot say, and what the store's reader throws.
 */
export async function findPatterns(
  { ranges, budget, now, kept, monotonicMs }: PatternDependencies,
  caller: QueryCaller,
  parameters: PatternParameters,
): Promise<PatternsAnswer> {
  const startMs = monotonicMs();
  const { filter, timeRange } = await selectionOf({ now, kept }, caller.organizationId, parameters);
  const window = windowOf(timeRange, now());
  const { value: groups, coverage } = await ranges.read(caller, (logs) =>
    new PatternReader({ logs, budget }).readGroups({ filter, window }),
  );
  const tallied = tallyPatterns(groups);
  const seen = tallied.filter((pattern): pattern is Seen => pattern.current !== null);
  seen.sort((a, b) => b.current.count - a.current.count || compareTexts(a.pattern, b.pattern));

  const total = sum(seen.map(({ current }) => current.count));
  const shown = seen.slice(0, parameters.limit ?? PATTERNS_DEFAULT_COUNT);
  const hidden = seen.slice(shown.length);
  return {
    patterns: shown.map((pattern) => describe(pattern, total)),
    other: { patterns: hidden.length, count: sum(hidden.map(({ current }) => current.count)) },
    vanished: vanishedPatterns(tallied),
    total,
    sampled: false,
    from: formatNs(String(window.from)),
    to: formatNs(String(window.to)),
    previousTotal: sum(tallied.map(({ previous }) => previous?.count ?? 0)),
    partial: coverage.partial,
    warnings: coverage.warnings,
    stats: {
      rowsRead: groups.rowsRead,
      bytesRead: groups.bytesRead,
      elapsedMs: Math.round((monotonicMs() - startMs) * 1000) / 1000,
      archive: coverage.archive,
    },
  };
}

function describe({ pattern, isOther, current, previous }: Seen, total: number): Pattern {
  return {
    pattern,
    count: current.count,
    share: current.count / total,
    firstSeen: formatNs(String(current.firstSeen)),
    lastSeen: formatNs(String(current.lastSeen)),
    levels: valueCounts(current.levels),
    services: valueCounts(current.services).slice(0, SERVICES_MAX_COUNT),
    samples: pickSamples([...current.samples].sort()),
    trend: Array.from({ length: TREND_BUCKETS }, (_, bucket) => current.trend.get(String(bucket)) ?? 0),
    new: !isOther && previous === null,
    previousCount: previous?.count ?? 0,
  };
}

function vanishedPatterns(tallied: readonly TalliedPattern[]): VanishedPattern[] {
  const vanished = tallied.flatMap(({ pattern, isOther, current, previous }) => {
    if (isOther || current !== null || previous === null) return [];
    return { pattern, previousCount: previous.count, lastSeen: formatNs(String(previous.lastSeen)) };
  });
  vanished.sort((a, b) => b.previousCount - a.previousCount || compareTexts(a.pattern, b.pattern));
  return vanished.slice(0, VANISHED_MAX_COUNT);
}

/** The most frequent first; null for entries without one. */
function valueCounts(counts: ReadonlyMap<string, number>): { value: string | null; count: number }[] {
  return [...counts]
    .map(([value, count]) => ({ value: value === "" ? null : value, count }))
    .sort((a, b) => b.count - a.count || compareTexts(a.value ?? "", b.value ?? ""));
}

/** Messages as different as there are: neighbours in the order of texts are most alike. */
function pickSamples(sorted: readonly string[]): string[] {
  const count = Math.min(SAMPLES_MAX_COUNT, sorted.length);
  const step = count > 1 ? (sorted.length - 1) / (count - 1) : 0;
  return Array.from({ length: count }, (_, i) => sorted[Math.round(i * step)] ?? "");
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
