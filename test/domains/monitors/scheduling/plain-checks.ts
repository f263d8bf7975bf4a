/** The program of a thread that checks with nothing but a request: what a check finds is not what these tests are about. */
import type { CheckOutcome, CheckSpec } from "../../../../src/probes/check.ts";
import { runCheckThread } from "../../../../src/probes/schedule/run-check-thread.ts";

async function plainCheck(spec: CheckSpec): Promise<CheckOutcome> {
  const beganMs = performance.now();
  const response = await fetch(spec.url, { signal: AbortSignal.timeout(spec.timeoutMs) }).catch(() => null);
  await response?.arrayBuffer();
  const isUp = response?.ok === true;
  return {
    status: isUp ? "up" : "down",
    error: isUp ? null : response === null ? "connection_refused" : "status_code",
    durationMs: performance.now() - beganMs,
    phases: { dnsMs: 0, connectMs: 0, tlsMs: 0, firstByteMs: 0 },
    statusCode: response?.status ?? null,
    certificateNotAfter: null,
    failedStep: null,
  };
}

runCheckThread(plainCheck);
