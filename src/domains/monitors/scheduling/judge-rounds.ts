import { missedSlots } from "../../../probes/schedule/slots.ts";
import { advance, type Effect } from "../../../uptime/advance.ts";
import type { PeriodStart } from "../../../uptime/monitor-state.ts";
import { quorumOf } from "../../../uptime/quorum.ts";
import type { StoredState } from "../../../uptime/state-store.ts";
import type { CheckRow } from "./check-rows.ts";
import type { RoundFacts, RoundSettings } from "./round-facts.ts";
import { LOCAL_REGION, type RegionCheck, type Round } from "./rounds.ts";

/** What became of a monitor by rounds that are recorded together. */
export interface JudgedMonitor {
  readonly settings: RoundSettings;
  readonly state: StoredState;
  readonly effects: readonly { readonly effect: Effect; readonly state: StoredState }[];
  readonly periods: readonly PeriodStart[];
  readonly rows: readonly CheckRow[];
}

/** Of rounds, those that may be recorded, and monitors that are not to be run any more. */
interface Admitted {
  readonly rounds: readonly Round[];
  /** Deleted or paused. */
  readonly gone: readonly number[];
}

/**
 * Leaves out rounds of monitors that are gone, of shards whose lease is another's by now, and of slots that are recorded;
 * `epochOf` says under which lease they were made.
 */
export function admitRounds(
  rounds: readonly Round[],
  facts: RoundFacts,
  epochOf: (shard: number) => number | undefined,
): Admitted {
  const gone = new Set<number>();
  const last = new Map<number, number>();
  const admitted: Round[] = [];
  for (const round of rounds.toSorted((a, b) => a.slotMs - b.slotMs)) {
    const { monitorId, shard, slotMs } = round;
    const state = facts.states.get(monitorId);
    const settings = facts.settings.get(monitorId);
    if (state === undefined || settings === undefined || settings.isPaused) gone.add(monitorId);
    else if (
      facts.epochs.get(shard) === epochOf(shard) &&
      slotMs > (last.get(monitorId) ?? state.lastSlotMs)
    ) {
      last.set(monitorId, slotMs);
      admitted.push(round);
    }
  }
  return { rounds: admitted, gone: [...gone] };
}

/**
 * What rounds make of their monitors; they are in the order of their slots, and admitted. Slots between that nobody looked
 * at are recorded as missed, so that what is recorded is what was due, whatever happened to those who were to look.
 */
export function judgeRounds(rounds: readonly Round[], facts: RoundFacts): JudgedMonitor[] {
  const judged = new Map<number, JudgedMonitor>();
  for (const round of rounds) {
    const { monitorId } = round;
    const settings = facts.settings.get(monitorId);
    const state = judged.get(monitorId)?.state ?? facts.states.get(monitorId);
    if (settings === undefined || state === undefined) throw new Error("a round was admitted of no monitor");
    const before = judged.get(monitorId) ?? { settings, state, effects: [], periods: [], rows: [] };
    judged.set(monitorId, judgeRound(before, round, facts.inMaintenance.has(monitorId)));
  }
  return [...judged.values()];
}

function judgeRound(before: JudgedMonitor, round: Round, isInMaintenance: boolean): JudgedMonitor {
  const caughtUp = judgeMissed(before, round, isInMaintenance);
  const { settings } = before;
  const quorum = quorumOf(round.checks.map(({ outcome }) => outcome));
  const atMs = round.checks.reduce(
    (ms, { startedAtMs }) => Math.min(ms, startedAtMs),
    Number.POSITIVE_INFINITY,
  );
  const after = advance(
    caughtUp.state,
    {
      ...quorum,
      atMs: Number.isFinite(atMs) ? atMs : round.slotMs,
      slots: 1,
      certificateNotAfterMs: quorum.certificateNotAfter,
    },
    settings,
    isInMaintenance,
  );
  const state = {
    ...caughtUp.state,
    ...after.state,
    lastSlotMs: round.slotMs,
    nextSlotMs: round.nextMs,
    heartbeatSeenAtMs: round.heartbeatAtMs ?? caughtUp.state.heartbeatSeenAtMs,
  };
  const rows =
    round.checks.length === 0
      ? [missedRow(settings, round.slotMs, 1, isInMaintenance)]
      : round.checks.map((check) => checkRow(settings, round, check, isInMaintenance));
  return {
    settings,
    state,
    effects: [...caughtUp.effects, ...after.effects.map((effect) => ({ effect, state }))],
    periods: [...caughtUp.periods, ...after.periods],
    rows: [...caughtUp.rows, ...rows],
  };
}

function judgeMissed(before: JudgedMonitor, round: Round, isInMaintenance: boolean): JudgedMonitor {
  const { settings, state } = before;
  const dueMs = state.nextSlotMs;
  const missed = dueMs === 0 || settings.isHeartbeat ? 0 : missedSlots(settings, dueMs, round.slotMs);
  if (missed === 0) return before;
  const verdict = {
    status: "unknown",
    error: null,
    atMs: dueMs,
    slots: missed,
    certificateNotAfterMs: null,
  } as const;
  const after = advance(state, verdict, settings, isInMaintenance);
  const next = { ...state, ...after.state };
  return {
    settings,
    state: next,
    effects: [...before.effects, ...after.effects.map((effect) => ({ effect, state: next }))],
    periods: [...before.periods, ...after.periods],
    rows: [...before.rows, missedRow(settings, dueMs, missed, isInMaintenance)],
  };
}

function checkRow(
  { organizationId, monitorId }: RoundSettings,
  { slotMs }: Round,
  { region, startedAtMs, lateMs, outcome }: RegionCheck,
  isInMaintenance: boolean,
): CheckRow {
  const { status, error } = outcome;
  const base = { organizationId, monitorId, startedAtMs, region, slotMs, status, error };
  return { ...base, outcome, lateMs, isInMaintenance, slots: 1 };
}

function missedRow(
  { organizationId, monitorId }: RoundSettings,
  slotMs: number,
  slots: number,
  isInMaintenance: boolean,
): CheckRow {
  return {
    organizationId,
    monitorId,
    startedAtMs: slotMs,
    region: LOCAL_REGION,
    slotMs,
    status: "missed",
    error: null,
    outcome: null,
    lateMs: 0,
    isInMaintenance,
    slots,
  };
}
