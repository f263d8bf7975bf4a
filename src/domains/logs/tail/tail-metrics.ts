import { Counter, Gauge, type Registry } from "prom-client";

export interface TailMetrics {
  /** Streams that are open. */
  readonly streams: Gauge;
  /** Entries that a filter let through, once for each distinct filter. */
  readonly matched: Counter;
  /** Entries sent to readers. */
  readonly delivered: Counter;
  /** Entries that slow readers did not get. */
  readonly dropped: Counter;
}

export function tailMetrics(registry: Registry): TailMetrics {
  const registers = [registry];
  return {
    streams: new Gauge({ name: "obs_tail_streams", help: "Live tails that are open.", registers }),
    matched: new Counter({
      name: "obs_tail_matched_total",
      help: "Entries that the filter of a live tail let through, once for each distinct filter.",
      registers,
    }),
    delivered: new Counter({
      name: "obs_tail_delivered_total",
      help: "Entries sent to live tails.",
      registers,
    }),
    dropped: new Counter({
      name: "obs_tail_dropped_total",
      help: "Entries that live tails did not get because they came too fast.",
      registers,
    }),
  };
}
