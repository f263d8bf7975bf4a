import { Counter, Gauge, type Registry } from "prom-client";

export interface QuarantineMetrics {
  readonly records: Counter<"outcome">;
  /** In all organisations, as far as this instance last looked. */
  readonly held: Gauge;
}

export function quarantineMetrics(registry: Registry): QuarantineMetrics {
  const registers = [registry];
  return {
    records: new Counter({
      name: "obs_quarantine_records_total",
      help: "Quarantined records by what became of them (kept, refused because the quarantine is full, replayed, still_rejected, discarded).",
      labelNames: ["outcome"],
      registers,
    }),
    held: new Gauge({
      name: "obs_quarantine_held_records",
      help: "Records in the quarantines of all organisations, looked up every half minute.",
      registers,
    }),
  };
}
