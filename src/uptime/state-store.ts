import type { ISql, TransactionSql } from "postgres";
import { CHECK_ERRORS, type CheckError } from "../probes/check.ts";
import type { KnownStatus, MonitorState } from "./monitor-state.ts";

/** The queries about what is known of monitors. Whoever changes it or its periods holds the monitor's row of `monitor_state`. */

/** What is stored of a monitor besides what its rounds say. Slots are milliseconds since 1970. */
export interface StoredState extends MonitorState {
  readonly monitorId: number;
  readonly organizationId: number;
  /** The last slot that was recorded. */
  readonly lastSlotMs: number;
  /** When it is due next; 0 is at once. */
  readonly nextSlotMs: number;
  /** The heartbeat that was last taken into account; null before the first. */
  readonly heartbeatSeenAtMs: number | null;
}

interface StateRow {
  monitor_id: string;
  organization_id: number;
  last_slot: string;
  next_slot: string;
  last_status: KnownStatus | null;
  last_checked_at: Date | null;
  last_error: string | null;
  confirmed: KnownStatus | null;
  confirmed_at: Date | null;
  failures: number;
  slow_rounds: number;
  successes: number;
  run_started_at: Date | null;
  unknown_rounds: number;
  unknown_since: Date | null;
  told: KnownStatus;
  told_at: Date | null;
  certificate_not_after: Date | null;
  certificate_told: boolean;
  heartbeat_seen_at: Date | null;
}

/** Locks monitors, one after the other so that nobody waits in a circle; those that are gone are not in the answer. */
export async function lockStates(tx: TransactionSql, monitorIds: readonly number[]): Promise<StoredState[]> {
  const rows = await tx<StateRow[]>`
    SELECT monitor_id, organization_id, last_slot, next_slot, last_status, last_checked_at, last_error, confirmed,
           confirmed_at, failures, slow_rounds, successes, run_started_at, unknown_rounds, unknown_since, told, told_at,
           certificate_not_after, certificate_told, heartbeat_seen_at
    FROM monitor_state WHERE monitor_id = ANY(${[...monitorIds]}::bigint[]) ORDER BY monitor_id FOR UPDATE`;
  return rows.map(stateOf);
}

/** Writes what was locked before. A slot is recorded once: a state whose last slot is not later than the stored one stays. */
export async function writeStates(tx: TransactionSql, states: readonly StoredState[]): Promise<void> {
  if (states.length === 0) return;
  await tx`
    UPDATE monitor_state AS stored
    SET last_slot = given.last_slot, next_slot = given.next_slot, last_status = given.last_status,
        last_checked_at = given.last_checked_at, last_error = given.last_error, confirmed = given.confirmed,
        confirmed_at = given.confirmed_at, failures = given.failures, slow_rounds = given.slow_rounds,
        successes = given.successes, run_started_at = given.run_started_at, unknown_rounds = given.unknown_rounds,
        unknown_since = given.unknown_since, told = given.told, told_at = given.told_at,
        certificate_not_after = given.certificate_not_after, certificate_told = given.certificate_told,
        heartbeat_seen_at = given.heartbeat_seen_at
    FROM jsonb_to_recordset(${tx.json(states.map(recordOf))}) AS given (
      monitor_id bigint, last_slot bigint, next_slot bigint, last_status text, last_checked_at timestamptz,
      last_error text, confirmed text, confirmed_at timestamptz, failures integer, slow_rounds integer,
      successes integer, run_started_at timestamptz, unknown_rounds integer, unknown_since timestamptz, told text,
      told_at timestamptz, certificate_not_after timestamptz, certificate_told boolean,
      heartbeat_seen_at timestamptz)
    WHERE stored.monitor_id = given.monitor_id AND stored.last_slot < given.last_slot`;
}

/** What was told is written by itself where no round is the cause. */
export async function writeTold(tx: TransactionSql, states: readonly StoredState[]): Promise<void> {
  if (states.length === 0) return;
  await tx`
    UPDATE monitor_state AS stored
    SET told = given.told, told_at = given.told_at, certificate_told = given.certificate_told
    FROM jsonb_to_recordset(${tx.json(states.map(recordOf))})
      AS given (monitor_id bigint, told text, told_at timestamptz, certificate_told boolean)
    WHERE stored.monitor_id = given.monitor_id`;
}

function stateOf(row: StateRow): StoredState {
  return {
    monitorId: Number(row.monitor_id),
    organizationId: row.organization_id,
    lastSlotMs: Number(row.last_slot),
    nextSlotMs: Number(row.next_slot),
    lastStatus: row.last_status,
    lastCheckedAtMs: msOf(row.last_checked_at),
    lastError: errorOf(row.last_error),
    confirmed: row.confirmed,
    confirmedAtMs: msOf(row.confirmed_at),
    failures: row.failures,
    slowRounds: row.slow_rounds,
    successes: row.successes,
    runStartedAtMs: msOf(row.run_started_at),
    unknownRounds: row.unknown_rounds,
    unknownSinceMs: msOf(row.unknown_since),
    told: row.told,
    toldAtMs: msOf(row.told_at),
    certificateNotAfterMs: msOf(row.certificate_not_after),
    certificateTold: row.certificate_told,
    heartbeatSeenAtMs: msOf(row.heartbeat_seen_at),
  };
}

function recordOf(state: StoredState): Parameters<ISql["json"]>[0] {
  return {
    monitor_id: state.monitorId,
    last_slot: state.lastSlotMs,
    next_slot: state.nextSlotMs,
    last_status: state.lastStatus,
    last_checked_at: timeOf(state.lastCheckedAtMs),
    last_error: state.lastError,
    confirmed: state.confirmed,
    confirmed_at: timeOf(state.confirmedAtMs),
    failures: state.failures,
    slow_rounds: state.slowRounds,
    successes: state.successes,
    run_started_at: timeOf(state.runStartedAtMs),
    unknown_rounds: state.unknownRounds,
    unknown_since: timeOf(state.unknownSinceMs),
    told: state.told,
    told_at: timeOf(state.toldAtMs),
    certificate_not_after: timeOf(state.certificateNotAfterMs),
    certificate_told: state.certificateTold,
    heartbeat_seen_at: timeOf(state.heartbeatSeenAtMs),
  };
}

function msOf(time: Date | null): number | null {
  return time === null ? null : time.getTime();
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** An error that a later server wrote is none that this one knows. */
function errorOf(text: string | null): CheckError | null {
  return CHECK_ERRORS.find((error) => error === text) ?? null;
}
