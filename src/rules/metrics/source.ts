import type { TransactionSql } from "postgres";
import { isStorableText } from "../../storage/storable-text.ts";
import type { EntryFilter } from "../counters/counter-store.ts";

/** Where the values of a metric come from. */
export type MetricSource =
  /** Numbers that entries carry: the attribute `metric.value` of those whose `metric.name` it is. */
  | { readonly kind: "attribute"; readonly name: string }
  /** How many entries there are of a kind, a value a minute; counted by a counter where there is one. */
  | { readonly kind: "entries"; readonly filter: EntryFilter; readonly counterId: number | null }
  /** The bytes of the messages of entries, a value a minute. */
  | { readonly kind: "bytes" }
  /** What monitors found: how long an answer took, and 1 for up or degraded, 0 for down. */
  | { readonly kind: "response_ms" | "up" };

type MetricKind = "attribute" | "log_metric" | "logs" | "monitors";

/** Metrics that every organisation has. */
export const OWN_METRICS: readonly {
  readonly name: string;
  readonly kind: MetricKind;
  readonly source: MetricSource;
}[] = [
  {
    name: "logs.entries",
    kind: "logs",
    source: { kind: "entries", filter: { query: null, service: null, level: null }, counterId: null },
  },
  { name: "logs.bytes", kind: "logs", source: { kind: "bytes" } },
  { name: "monitor.response_ms", kind: "monitors", source: { kind: "response_ms" } },
  { name: "monitor.up", kind: "monitors", source: { kind: "up" } },
];

/** The attributes by which an entry is a point of a metric. */
export const NAME_ATTRIBUTE = ["metric", "name"] as const;
export const VALUE_ATTRIBUTE = ["metric", "value"] as const;

/** What a name stands for: a metric that everybody has, else a log metric of that name, else what entries carry. */
export async function metricSource(
  tx: TransactionSql,
  organizationId: number,
  name: string,
): Promise<MetricSource> {
  const own = OWN_METRICS.find((metric) => metric.name === name);
  if (own !== undefined) return own.source;
  // No log metric can be called what Postgres does not take.
  if (!isStorableText(name)) return { kind: "attribute", name };
  const [metric] = await tx<(EntryFilter & { counterId: number | null })[]>`
    SELECT m.query, m.service, m.level,
           (SELECT c.id::integer FROM log_counters c WHERE c.id = m.counter_id AND c.past = 'counted') AS "counterId"
    FROM log_metrics m WHERE m.organization_id = ${organizationId} AND m.name = ${name} ORDER BY m.id LIMIT 1`;
  if (metric === undefined) return { kind: "attribute", name };
  const { query, service, level, counterId } = metric;
  return { kind: "entries", filter: { query, service, level }, counterId };
}
