import type { Sql } from "postgres";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { FairShare } from "../../concurrency/fair-share.ts";
import { MemoryShare } from "../../concurrency/memory-share.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { readCounterRow } from "../counters/counter-store.ts";
import { joinedSpans, type TimeSpan } from "../evaluation/bucket-sums.ts";
import { COUNTING_MEMORY_BYTES } from "../seal/limits.ts";
import { type Correlation, type CorrelationPoint, findCorrelated } from "./find-correlated.ts";
import { JOINS_MAX } from "./limits.ts";
import type { LiveRule } from "./live-store.ts";
import { HitsReader } from "./read-hits.ts";
import type { Findings, GroupFinding, Moment, RuleFinder } from "./rule-finder.ts";

const TOO_MANY_VALUES = "More values in common have what it asks for than are told of: some are left out.";

/**
 * Rules about several entries that have a value in common. Counters of their steps say where something came; what is there is
 * read around it, so that whatever comes late is found with what it belongs to.
 */
export class CorrelationRules implements RuleFinder {
  readonly #sql: Sql;
  readonly #hits: HitsReader;
  readonly #memory = new FairShare(COUNTING_MEMORY_BYTES);

  constructor(sql: Sql, ranges: Pick<LogRanges, "read">) {
    this.#sql = sql;
    this.#hits = new HitsReader(ranges);
  }

  readonly find = async (rule: LiveRule, at: Moment, signal: AbortSignal): Promise<Findings | null> => {
    const { condition, windowMs } = rule.definition;
    if (condition.kind !== "sequence" && condition.kind !== "cardinality") return null;
    const counters = await askPostgres(() =>
      Promise.all(rule.counterIds.map((id) => readCounterRow(this.#sql, id))),
    );
    const steps = counters.filter((counter): counter is NonNullable<typeof counter> => counter !== null);
    if (steps.length !== rule.counterIds.length) return null;
    const memory = new MemoryShare(this.#memory, [rule.organizationId]);
    try {
      const caller = { organizationId: rule.organizationId, userId: 0, signal, memory };
      const correlation: Correlation = { ...condition, windowMs };
      // What came before the rule was made tells nobody, but counts for what comes after.
      const sinceMs = condition.sinceMs;
      const spans = joinedSpans(
        at.spans
          .map(({ fromMs, toMs }) => ({ fromMs: Math.max(fromMs, sinceMs), toMs: toMs + windowMs }))
          .filter(({ fromMs, toMs }) => fromMs < toMs),
      );
      return await findIn(correlation, spans, (span) => this.#hits.read(caller, correlation, steps, span));
    } finally {
      memory.close();
    }
  };
}

function findingOf({ windowMs }: Correlation, points: readonly CorrelationPoint[]): GroupFinding {
  const at = new Map(points.map((point) => [point.atMs, point]));
  // What was over and goes on by what came late began with what was found then: what is found now shows it.
  const shownOf = (atMs: number): CorrelationPoint | undefined =>
    at.get(atMs) ?? points.find((point) => point.atMs > atMs) ?? points.at(-1);
  return {
    stretches: points.map(({ atMs, peak }) => ({ fromMs: atMs, toMs: atMs, untilMs: atMs + windowMs, peak })),
    evidence: (atMs) => shownOf(atMs)?.evidence() ?? [],
    because: (atMs) => shownOf(atMs)?.because ?? "The entries that the rule asks for came together.",
    ...{ wholeFromMs: null, judgedMs: null, nextMs: null },
  };
}

/** What is found in the spans, where the entries of a window before each belong to it. */
export async function findIn(
  correlation: Correlation,
  spans: readonly TimeSpan[],
  read: (span: TimeSpan) => ReturnType<HitsReader["read"]>,
): Promise<Findings> {
  const points = new Map<string, CorrelationPoint[]>();
  let leftOut: string | null = null;
  for (const span of spans) {
    const reading = await read({ fromMs: span.fromMs - correlation.windowMs, toMs: span.toMs });
    leftOut ??= reading.leftOut;
    for (const [group, found] of findCorrelated(correlation, reading.hits)) {
      const inside = found.filter(({ atMs }) => atMs >= span.fromMs && atMs < span.toMs);
      if (inside.length > 0) points.set(group, [...(points.get(group) ?? []), ...inside]);
    }
  }
  const groups = new Map<string, GroupFinding>(
    [...points].slice(0, JOINS_MAX).map(([group, found]) => [group, findingOf(correlation, found)]),
  );
  return { groups, note: leftOut ?? (points.size > JOINS_MAX ? TOO_MANY_VALUES : null) };
}
