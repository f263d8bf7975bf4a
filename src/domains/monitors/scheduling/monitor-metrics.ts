import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export interface MonitorMetrics {
  readonly slots: Counter;
  readonly startLateness: Histogram;
  readonly roundsWaiting: Gauge;
  readonly resultsWaiting: Gauge;
  readonly shards: Gauge;
}

/** How late checks begin, in seconds. */
const LATENESS_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 30];

export function monitorMetrics(registry: Registry): MonitorMetrics {
  const registers = [registry];
  return {
    slots: new Counter({
      name: "obs_monitor_rounds_total",
      help: "Slots of monitors that were recorded.",
      registers,
    }),
    startLateness: new Histogram({
      name: "obs_monitor_start_lateness_seconds",
      help: "How long after its slot a check began.",
      buckets: LATENESS_BUCKETS,
      registers,
    }),
    roundsWaiting: new Gauge({
      name: "obs_monitor_rounds_waiting",
      help: "Rounds of monitors that are not written yet.",
      registers,
    }),
    resultsWaiting: new Gauge({
      name: "obs_monitor_results_waiting",
      help: "Results of monitors that are not in the log store yet, of all servers.",
      registers,
    }),
    shards: new Gauge({
      name: "obs_monitor_shards",
      help: "Parts of the monitors that this server runs.",
      registers,
    }),
  };
}
