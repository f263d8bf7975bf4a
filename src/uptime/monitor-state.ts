import type { CheckError, CheckStatus } from "../probes/check.ts";

/** What is known of a target; `unknown` is no state. */
export type KnownStatus = Exclude<CheckStatus, "unknown">;

/** What is known of a monitor, from round to round. Times are milliseconds since 1970. */
export interface MonitorState {
  /** The verdict of the last round that had one, and when that was. */
  readonly lastStatus: KnownStatus | null;
  readonly lastCheckedAtMs: number | null;
  readonly lastError: CheckError | null;
  /** What alerts, pages and uptime go by, and since when; null before the first. */
  readonly confirmed: KnownStatus | null;
  readonly confirmedAtMs: number | null;
  /** Rounds of one kind that came one after the other; at most one of the three is not 0. */
  readonly failures: number;
  readonly slowRounds: number;
  readonly successes: number;
  /** When the rounds began that are not confirmed yet; null where there are none. */
  readonly runStartedAtMs: number | null;
  /** Slots one after the other of which nothing is known, and since when. */
  readonly unknownRounds: number;
  readonly unknownSinceMs: number | null;
  /** What was told last, and when. */
  readonly told: KnownStatus;
  readonly toldAtMs: number | null;
  readonly certificateNotAfterMs: number | null;
  /** Whether it was told that the certificate expires soon. */
  readonly certificateTold: boolean;
}

export const NEW_MONITOR: MonitorState = {
  lastStatus: null,
  lastCheckedAtMs: null,
  lastError: null,
  confirmed: null,
  confirmedAtMs: null,
  failures: 0,
  slowRounds: 0,
  successes: 0,
  runStartedAtMs: null,
  unknownRounds: 0,
  unknownSinceMs: null,
  told: "up",
  toldAtMs: null,
  certificateNotAfterMs: null,
  certificateTold: false,
};

/** From when on a monitor is in another state; `paused` and `unknown` are time of which nothing is known. */
export interface PeriodStart {
  readonly status: CheckStatus | "paused";
  readonly sinceMs: number;
}
