import { Gauge, type Registry } from "prom-client";

interface DedupeMetrics {
  /** Event ids and names of requests that are remembered. */
  readonly keys: Gauge;
  /** How far back they go. */
  readonly reachSec: Gauge;
}

export function dedupeMetrics(registry: Registry): DedupeMetrics {
  const registers = [registry];
  return {
    keys: new Gauge({
      name: "obs_dedupe_keys",
      help: "Event ids and names of requests that are remembered.",
      registers,
    }),
    reachSec: new Gauge({
      name: "obs_dedupe_reach_seconds",
      help: "How long ago an event may have come for its repetition to be noticed; less than the window when memory is full.",
      registers,
    }),
  };
}
