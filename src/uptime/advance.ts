import type { CheckError, CheckStatus } from "../probes/check.ts";
import type { KnownStatus, MonitorState, PeriodStart } from "./monitor-state.ts";

/** Slots without a verdict after which a monitor counts as not observed: one or two happen to whoever restarts a server. */
export const UNOBSERVED_SLOTS = 3;
const DAY_MS = 86_400_000;

/** What one round came to, or several slots that nobody looked at. */
interface Verdict {
  readonly status: CheckStatus;
  readonly error: CheckError | null;
  /** When the round began, or the first of the slots; milliseconds since 1970. */
  readonly atMs: number;
  /** How many slots it stands for: more than one only where it is unknown. */
  readonly slots: number;
  readonly certificateNotAfterMs: number | null;
}

export interface AdvanceConfig {
  readonly alertThreshold: number;
  readonly recoveryThreshold: number;
  readonly alertOnDegraded: boolean;
  readonly remindEverySec: number | null;
  readonly expiryWarnDays: number;
}

/** What is to be told of a monitor. */
export type Effect =
  | { readonly kind: "raise"; readonly status: "down" | "degraded"; readonly sinceMs: number }
  | { readonly kind: "clear"; readonly atMs: number }
  | { readonly kind: "remind"; readonly sinceMs: number }
  | { readonly kind: "unobserved"; readonly sinceMs: number }
  | { readonly kind: "raise_certificate"; readonly notAfterMs: number }
  | { readonly kind: "clear_certificate"; readonly atMs: number };

/** A monitor after a round, and what follows from it. */
interface Advance {
  readonly state: MonitorState;
  readonly effects: readonly Effect[];
  readonly periods: readonly PeriodStart[];
}

/**
 * What a round makes of a monitor. A state is confirmed after as many rounds of its kind as its threshold says, and dated
 * back to the first of them. In maintenance everything goes on and nothing is told: what was told stays, so that the first
 * round afterwards, or `tell`, says what is still true.
 */
export function advance(
  before: MonitorState,
  verdict: Verdict,
  config: AdvanceConfig,
  isInMaintenance: boolean,
): Advance {
  if (verdict.status === "unknown") return missed(before, verdict);
  const counted = count(before, verdict.status, verdict);
  const { state, periods } = confirm(counted, verdict.status, before, verdict.atMs, config);
  if (isInMaintenance) return { state, effects: [], periods };
  return { ...tell(state, config, verdict.atMs), periods };
}

/** What must be said for others to know the state as it is confirmed; nothing when they do. */
export function tell(
  state: MonitorState,
  config: AdvanceConfig,
  nowMs: number,
): { readonly state: MonitorState; readonly effects: readonly Effect[] } {
  const monitor = tellStatus(state, config, nowMs);
  const certificate = tellCertificate(monitor.state, config, nowMs);
  return { state: certificate.state, effects: [...monitor.effects, ...certificate.effects] };
}

/** Slots without a verdict change nothing but how long nothing has been known. */
function missed(before: MonitorState, { atMs, slots }: Verdict): Advance {
  const unknownSinceMs = before.unknownSinceMs ?? atMs;
  const unknownRounds = before.unknownRounds + slots;
  const state = { ...before, unknownRounds, unknownSinceMs };
  const isNews = before.unknownRounds < UNOBSERVED_SLOTS && unknownRounds >= UNOBSERVED_SLOTS;
  if (!isNews) return { state, effects: [], periods: [] };
  return {
    // What goes on afterwards is dated back no further than to where somebody looked again.
    state: { ...state, runStartedAtMs: null },
    effects: [{ kind: "unobserved", sinceMs: unknownSinceMs }],
    periods: state.confirmed === null ? [] : [{ status: "unknown", sinceMs: unknownSinceMs }],
  };
}

function count(before: MonitorState, status: KnownStatus, verdict: Verdict): MonitorState {
  // Before the first state time counts from the first round on, whatever that said.
  const isRun = before.runStartedAtMs !== null && (before.lastStatus === status || before.confirmed === null);
  return {
    ...before,
    lastStatus: status,
    lastCheckedAtMs: verdict.atMs,
    lastError: verdict.error,
    failures: status === "down" ? before.failures + 1 : 0,
    slowRounds: status === "degraded" ? before.slowRounds + 1 : 0,
    successes: status === "up" ? before.successes + 1 : 0,
    runStartedAtMs: isRun ? before.runStartedAtMs : verdict.atMs,
    unknownRounds: 0,
    unknownSinceMs: null,
    certificateNotAfterMs: verdict.certificateNotAfterMs ?? before.certificateNotAfterMs,
  };
}

function confirm(
  counted: MonitorState,
  status: KnownStatus,
  before: MonitorState,
  atMs: number,
  config: AdvanceConfig,
): Pick<Advance, "state" | "periods"> {
  const isObservedAgain = before.unknownRounds >= UNOBSERVED_SLOTS && before.confirmed !== null;
  const goesOn: PeriodStart[] = isObservedAgain ? [{ status: before.confirmed, sinceMs: atMs }] : [];
  if (status === before.confirmed) return { state: { ...counted, runStartedAtMs: null }, periods: goesOn };
  const rounds = counted.failures + counted.slowRounds + counted.successes;
  if (rounds < thresholdOf(status, before.confirmed, config)) return { state: counted, periods: goesOn };
  const sinceMs = counted.runStartedAtMs ?? atMs;
  return {
    state: { ...counted, confirmed: status, confirmedAtMs: sinceMs, runStartedAtMs: null },
    periods: [...goesOn, { status, sinceMs }],
  };
}

/** How many rounds of a kind make it the state. Whatever is not down is a recovery from it. */
function thresholdOf(status: KnownStatus, confirmed: KnownStatus | null, config: AdvanceConfig): number {
  if (status === "down") return config.alertThreshold;
  if (confirmed === null) return 1;
  if (status === "up" || confirmed === "down") return config.recoveryThreshold;
  return config.alertThreshold;
}

function tellStatus(
  state: MonitorState,
  { alertOnDegraded, remindEverySec }: AdvanceConfig,
  nowMs: number,
): { readonly state: MonitorState; readonly effects: readonly Effect[] } {
  const { confirmed, told, toldAtMs } = state;
  const wanted = confirmed === null || (confirmed === "degraded" && !alertOnDegraded) ? "up" : confirmed;
  const sinceMs = state.confirmedAtMs ?? nowMs;
  if (wanted !== told) {
    const effect: Effect =
      wanted === "up" ? { kind: "clear", atMs: sinceMs } : { kind: "raise", status: wanted, sinceMs };
    return { state: { ...state, told: wanted, toldAtMs: nowMs }, effects: [effect] };
  }
  const isDue = remindEverySec !== null && nowMs - (toldAtMs ?? nowMs) >= remindEverySec * 1000;
  if (told === "up" || !isDue) return { state, effects: [] };
  return { state: { ...state, toldAtMs: nowMs }, effects: [{ kind: "remind", sinceMs }] };
}

/** Of a certificate it is told once that it expires soon, and once that another has taken its place. */
function tellCertificate(
  state: MonitorState,
  { expiryWarnDays }: AdvanceConfig,
  nowMs: number,
): { readonly state: MonitorState; readonly effects: readonly Effect[] } {
  const { certificateNotAfterMs: notAfterMs, certificateTold } = state;
  if (notAfterMs === null) return { state, effects: [] };
  const isNear = notAfterMs - nowMs <= expiryWarnDays * DAY_MS;
  if (isNear === certificateTold) return { state, effects: [] };
  const effect: Effect = isNear
    ? { kind: "raise_certificate", notAfterMs }
    : { kind: "clear_certificate", atMs: nowMs };
  return { state: { ...state, certificateTold: isNear }, effects: [effect] };
}
