import { FairShare } from "../../concurrency/fair-share.ts";
import { MemoryShare } from "../../concurrency/memory-share.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import type { CountsDependencies } from "../counters/read-counts.ts";
import {
  explainMetric,
  metricBuckets,
  metricStretches,
  type WindowValue,
  windowValues,
} from "../evaluation/metric-windows.ts";
import { readPoints } from "../metrics/read-points.ts";
import { type MetricSource, metricSource } from "../metrics/source.ts";
import { COUNTING_MEMORY_BYTES } from "../seal/limits.ts";
import { METRIC_LATE_MS, WINDOWS_MAX_JUDGED } from "./limits.ts";
import type { LiveRule } from "./live-store.ts";
import type { Findings, GroupFinding, Moment, RuleFinder } from "./rule-finder.ts";

const NO_VALUES = "The latest window has no values.";

/**
 * Rules that ask what the values of a metric come to. Windows are judged when they are over, and again when something comes to
 * one late: of entries their counters tell, of monitors those of the last minutes are looked at again each time.
 */
export class MetricRules implements RuleFinder {
  readonly #deps: CountsDependencies;
  readonly #memory = new FairShare(COUNTING_MEMORY_BYTES);

  constructor(deps: CountsDependencies) {
    this.#deps = deps;
  }

  readonly find = async (rule: LiveRule, at: Moment, signal: AbortSignal): Promise<Findings | null> => {
    const { condition, windowMs, noDataMs } = rule.definition;
    if (condition.kind !== "metric") return null;
    const { sinceMs, metric, service } = condition;
    const { bucketMs } = metricBuckets(windowMs / 1000);
    const startOf = (ms: number): number => Math.floor(ms / bucketMs) * bucketMs;
    const source = await this.#sourceOf(rule.organizationId, metric);
    const judgedMs = at.kept.get("")?.judgedMs ?? sinceMs;
    const isOfMonitors = source.kind === "response_ms" || source.kind === "up";
    const again = isOfMonitors ? [judgedMs - METRIC_LATE_MS] : at.spans.map(({ fromMs }) => fromMs);
    const fromMs = Math.max(sinceMs, startOf(Math.min(judgedMs, ...again)));
    const endMs = Math.max(judgedMs, startOf(at.throughMs));
    const toMs = Math.min(endMs, fromMs + WINDOWS_MAX_JUDGED * bucketMs);
    const values =
      toMs > fromMs
        ? await this.#valuesOf(rule, { source, service, fromMs, toMs, bucketMs }, at.throughMs, signal)
        : [];
    const asked = { ...condition, windowMs };
    const stretches = metricStretches(asked, values, bucketMs);
    const found = new Map(stretches.map(({ fromMs: atMs, value }) => [atMs, value]));
    const lastEndMs = values.findLast(({ value }) => value !== null)?.endMs;
    const finding: GroupFinding = {
      stretches,
      wholeFromMs: fromMs,
      because: (atMs) => explainMetric(asked, metric, found.get(atMs) ?? condition.threshold),
      judgedMs: toMs,
      nextMs: toMs < endMs ? toMs : toMs + bucketMs,
      ...(lastEndMs !== undefined && (noDataMs ?? null) !== null && { lastDataMs: lastEndMs }),
    };
    return { groups: new Map([["", finding]]), note: values.at(-1)?.value === null ? NO_VALUES : null };
  };

  #sourceOf(organizationId: number, metric: string): Promise<MetricSource> {
    return askPostgres(() =>
      inOrganization(this.#deps.sql, organizationId, (tx) => metricSource(tx, organizationId, metric)),
    );
  }

  async #valuesOf(
    { organizationId, definition }: LiveRule,
    of: {
      readonly source: MetricSource;
      readonly service: string | null;
      readonly fromMs: number;
      readonly toMs: number;
      readonly bucketMs: number;
    },
    nowMs: number,
    signal: AbortSignal,
  ): Promise<WindowValue[]> {
    const { source, service, fromMs, toMs, bucketMs } = of;
    const { condition, windowMs } = definition;
    if (condition.kind !== "metric") return [];
    const memory = new MemoryShare(this.#memory, [organizationId]);
    try {
      const caller = { organizationId, userId: 0, signal, memory };
      const span = { fromMs: fromMs + bucketMs - windowMs, toMs };
      const points = await readPoints(this.#deps, caller, { source, service, span, bucketMs }, nowMs);
      return windowValues({ ...condition, windowMs }, points, { fromMs, toMs }, bucketMs);
    } finally {
      memory.close();
    }
  }
}
