import { Counter, Gauge, type Registry } from "prom-client";

export interface SealMetrics {
  readonly entries: Counter;
  readonly signals: Counter;
  /** When the latest round left nothing to count, in seconds since 1970. */
  readonly lastRound: Gauge;
}

export function sealMetrics(registry: Registry): SealMetrics {
  const registers = [registry];
  return {
    entries: new Counter({
      name: "obs_sealed_entries_total",
      help: "Stored entries that were counted for log metrics.",
      registers,
    }),
    signals: new Counter({
      name: "obs_signals_total",
      help: "Rows that counting has written.",
      registers,
    }),
    lastRound: new Gauge({
      name: "obs_seal_last_round_timestamp_seconds",
      help: "When everything stored was counted last.",
      registers,
    }),
  };
}
