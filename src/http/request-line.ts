import type { Logger } from "../log.ts";
import type { Metrics } from "../ops/metrics.ts";
import type { Principal } from "./principal.ts";

/** A request that has been answered, as it is logged and counted. */
export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** The pattern of the route, never the path: paths carry tokens. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly clientAddress: string;
  readonly principal: Principal | null;
  readonly code: string | undefined;
  /** What the request said about its body; null when it did not. */
  readonly bytesIn: number | null;
  readonly bytesOut: number | null;
  /** Asked so often that it is only worth a line when debugging. */
  readonly isProbe: boolean;
}

/** Writes one line about a request and counts it. Neither queries nor bodies nor raw paths are in it. */
export function recordRequest(answered: AnsweredRequest, log: Logger, metrics: Pick<Metrics, "http">): void {
  const { method, route, status, durationMs, principal } = answered;
  metrics.http.requests.inc({ method, route, status });
  metrics.http.durationSec.observe({ method, route }, durationMs / 1000);
  const line = {
    requestId: answered.requestId,
    method,
    route,
    status,
    code: answered.code,
    durationMs: Math.round(durationMs * 1000) / 1000,
    bytesIn: answered.bytesIn,
    bytesOut: answered.bytesOut,
    clientAddress: answered.clientAddress,
    userId: principal?.userId,
    organizationId: principal?.organizationId,
    tokenId: principal?.tokenId ?? undefined,
  };
  if (answered.isProbe && status < 400) log.debug(line, "request");
  else log.info(line, "request");
}
