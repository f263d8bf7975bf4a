import { Counter, type Registry } from "prom-client";

export interface IngestRuleMetrics {
  readonly entries: Counter<"outcome">;
  /** Look-ups of rules that failed. */
  readonly unread: Counter<"outcome">;
}

export function ingestRuleMetrics(registry: Registry): IngestRuleMetrics {
  const registers = [registry];
  return {
    entries: new Counter({
      name: "obs_ingest_rule_entries_total",
      help: "Entries that rules of organisations changed before they were stored, by outcome (dropped, masked).",
      labelNames: ["outcome"],
      registers,
    }),
    unread: new Counter({
      name: "obs_ingest_rules_unread_total",
      help: "Look-ups of rules that failed, by what was done then (last_known, refused).",
      labelNames: ["outcome"],
      registers,
    }),
  };
}
