import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { LATENCY_BUCKETS_SEC } from "../latency-buckets.ts";

export interface HttpMetrics {
  readonly requests: Counter<"method" | "route" | "status">;
  readonly durationSec: Histogram<"method" | "route">;
  readonly inFlight: Gauge;
  /** Refused because too many were being answered: all that there may be (`all`), or the caller's share (`share`). */
  readonly capacityRejections: Counter<"bound">;
}

export function httpMetrics(registry: Registry): HttpMetrics {
  const registers = [registry];
  return {
    requests: new Counter({
      name: "obs_http_requests_total",
      help: "Requests answered.",
      labelNames: ["method", "route", "status"],
      registers,
    }),
    durationSec: new Histogram({
      name: "obs_http_request_duration_seconds",
      help: "Time from the arrival of a request's head to its answer; of a stream, to its start.",
      labelNames: ["method", "route"],
      buckets: LATENCY_BUCKETS_SEC,
      registers,
    }),
    inFlight: new Gauge({ name: "obs_http_requests_in_flight", help: "Requests being answered.", registers }),
    capacityRejections: new Counter({
      name: "obs_http_capacity_rejections_total",
      help: "Requests refused because too many were being answered, of all callers (all) or of theirs (share).",
      labelNames: ["bound"],
      registers,
    }),
  };
}

export interface RateLimitMetrics {
  /** By the class of the bucket. */
  readonly rejections: Counter<"class">;
  /** Judged by this instance alone because the shared store did not answer. */
  readonly localDecisions: Counter;
}

export function rateLimitMetrics(registry: Registry): RateLimitMetrics {
  const registers = [registry];
  return {
    rejections: new Counter({
      name: "obs_rate_limit_rejections_total",
      help: "Requests refused with RATE_LIMITED.",
      labelNames: ["class"],
      registers,
    }),
    localDecisions: new Counter({
      name: "obs_rate_limit_local_decisions_total",
      help: "Requests judged by this instance alone because the shared store did not answer.",
      registers,
    }),
  };
}
