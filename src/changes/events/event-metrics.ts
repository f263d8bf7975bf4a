import { Counter, Gauge, type Registry } from "prom-client";

export interface EventMetrics {
  readonly deliveries: Counter<"outcome">;
  /** Age of the oldest event that somebody has not been told of. */
  readonly lagSec: Gauge;
  readonly setAside: Gauge;
}

export function eventMetrics(registry: Registry): EventMetrics {
  const registers = [registry];
  return {
    deliveries: new Counter({
      name: "obs_event_deliveries_total",
      help: "Attempts to tell a subscriber of an event, by outcome (delivered, failed and tried again, set_aside).",
      labelNames: ["outcome"],
      registers,
    }),
    lagSec: new Gauge({
      name: "obs_event_lag_seconds",
      help: "Age of the oldest event that a subscriber has not been told of.",
      registers,
    }),
    setAside: new Gauge({
      name: "obs_event_deliveries_set_aside",
      help: "Deliveries that failed too often and wait for nobody.",
      registers,
    }),
  };
}
