import { Counter, Gauge, type Registry } from "prom-client";

export interface AnchorMetrics {
  /** Anchors written, and inserts of anchors that failed. */
  readonly anchors: Counter<"outcome">;
  /** Age of the oldest audit row that no anchor vouches for yet. */
  readonly lagSec: Gauge;
}

export function anchorMetrics(registry: Registry): AnchorMetrics {
  const registers = [registry];
  return {
    anchors: new Counter({
      name: "obs_audit_anchors_total",
      help: "Heads of audit logs told to ClickHouse, by outcome (written, failed).",
      labelNames: ["outcome"],
      registers,
    }),
    lagSec: new Gauge({
      name: "obs_audit_anchor_lag_seconds",
      help: "Age of the oldest audit row that ClickHouse does not vouch for yet.",
      registers,
    }),
  };
}
