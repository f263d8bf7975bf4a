import type { CheckError, CheckStatus } from "../probes/check.ts";

/** What a check in one region came to. */
interface RegionReport {
  readonly status: CheckStatus;
  readonly error: CheckError | null;
  /** Milliseconds since 1970; null where no certificate was shown. */
  readonly certificateNotAfter: number | null;
}

/** What a round of all regions comes to. */
type Quorum = RegionReport;

/**
 * Of the regions that found something out: down when more than half of them say so, else degraded when any is not up. A
 * lone dissenter is no outage, and a region that is silent or knows nothing has no vote.
 */
export function quorumOf(reports: readonly RegionReport[]): Quorum {
  const known = reports.filter(({ status }) => status !== "unknown");
  const down = known.filter(({ status }) => status === "down");
  const troubled = known.filter(({ status }) => status !== "up");
  const status = statusOf(known.length, down.length, troubled.length);
  const speaker = status === "unknown" ? reports[0] : (down[0] ?? troubled[0]);
  const expiries = reports.flatMap(({ certificateNotAfter }) => certificateNotAfter ?? []);
  return {
    status,
    error: speaker?.error ?? null,
    certificateNotAfter: expiries.length === 0 ? null : Math.min(...expiries),
  };
}

function statusOf(known: number, down: number, troubled: number): CheckStatus {
  if (known === 0) return "unknown";
  if (down > known / 2) return "down";
  return troubled > 0 ? "degraded" : "up";
}
