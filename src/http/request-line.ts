import type { Principal } from "../access/principal.ts";
import { type Logger, plainLineWriter } from "../log.ts";

/** A request that has been answered, as it is logged. */
export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  /** The pattern of the route, never the path: paths carry tokens. */
  readonly route: string;
  readonly status: number;
  readonly code: string | undefined;
  readonly durationMs: number;
  /** What the request said about its body; null when it did not. */
  readonly bytesIn: number | null;
  readonly bytesOut: number | null;
  readonly clientAddress: string;
  readonly principal: Principal | null;
  /** Asked so often that it is only worth a line when debugging. */
  readonly isProbe: boolean;
}

const MESSAGE = "request";

/** Makes the writer of one line per request. Neither queries nor bodies nor raw paths are in it. */
export function requestLog(log: Logger): (answered: AnsweredRequest) => void {
  const writeLine = plainLineWriter(log, MESSAGE);
  return (answered) => {
    const { principal } = answered;
    const line = {
      requestId: answered.requestId,
      method: answered.method,
      route: answered.route,
      status: answered.status,
      code: answered.code,
      durationMs: Math.round(answered.durationMs * 1000) / 1000,
      bytesIn: answered.bytesIn,
      bytesOut: answered.bytesOut,
      clientAddress: answered.clientAddress,
      userId: principal?.userId,
      organizationId: principal?.organizationId,
      tokenId: principal?.tokenId ?? undefined,
    };
    if (answered.isProbe && answered.status < 400) log.debug(line, MESSAGE);
    else writeLine(line);
  };
}
