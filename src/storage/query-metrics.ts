import { Counter, Histogram, type Registry } from "prom-client";
import { LATENCY_BUCKETS_SEC } from "../latency-buckets.ts";

export interface QueryMetrics {
  readonly durationSec: Histogram<"operation" | "outcome">;
  readonly rowsRead: Counter<"operation">;
}

export function queryMetrics(registry: Registry): QueryMetrics {
  const registers = [registry];
  return {
    durationSec: new Histogram({
      name: "obs_query_duration_seconds",
      help: "Time of queries to the log store, by operation and outcome (ok, refused, timeout, failed).",
      labelNames: ["operation", "outcome"],
      buckets: LATENCY_BUCKETS_SEC,
      registers,
    }),
    rowsRead: new Counter({
      name: "obs_query_rows_read_total",
      help: "Rows the log store read for queries.",
      labelNames: ["operation"],
      registers,
    }),
  };
}
