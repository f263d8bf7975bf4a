import type { TransactionSql } from "postgres";
import { lockStates, type StoredState } from "../../../uptime/state-store.ts";
import type { Round } from "./rounds.ts";

/** The settings by which rounds are judged. */
export interface RoundSettings {
  readonly monitorId: number;
  readonly organizationId: number;
  readonly name: string;
  readonly shard: number;
  readonly intervalMs: number;
  readonly alertThreshold: number;
  readonly recoveryThreshold: number;
  readonly alertOnDegraded: boolean;
  readonly remindEverySec: number | null;
  readonly expiryWarnDays: number;
  readonly escalationPolicyId: number | null;
  readonly isPaused: boolean;
  /** Its slots are when heartbeats come or should have: no grid, and no checks of ours. */
  readonly isHeartbeat: boolean;
}

/** What rounds are judged by: as it is once nobody else can change it. */
export interface RoundFacts {
  readonly states: ReadonlyMap<number, StoredState>;
  readonly settings: ReadonlyMap<number, RoundSettings>;
  /** The epochs of the shards, which stay until the transaction is over. */
  readonly epochs: ReadonlyMap<number, number>;
  /** Monitors that are in maintenance now. */
  readonly inMaintenance: ReadonlySet<number>;
}

interface SettingsRow {
  id: string;
  organization_id: number;
  name: string;
  shard: number;
  interval_sec: number;
  alert_threshold: number;
  recovery_threshold: number;
  alert_on_degraded: boolean;
  remind_every_sec: number | null;
  expiry_warn_days: number;
  escalation_policy_id: string | null;
  paused: boolean;
  type: string;
}

/**
 * Reads and locks what rounds are judged by. Settings are read after the states are locked: whoever pauses a monitor holds
 * its state, so it is seen here or waits.
 */
export async function lockFacts(tx: TransactionSql, rounds: readonly Round[]): Promise<RoundFacts> {
  const ids = [...new Set(rounds.map(({ monitorId }) => monitorId))];
  const shards = [...new Set(rounds.map(({ shard }) => shard))];
  // Sent together; Postgres does one after the other.
  const [leases, states, facts] = await Promise.all([
    tx<{ shard: number; epoch: string }[]>`
      SELECT shard, epoch FROM monitor_shards WHERE shard = ANY(${shards}::smallint[]) ORDER BY shard FOR SHARE`,
    lockStates(tx, ids),
    readSettings(tx, ids),
  ]);
  return {
    epochs: new Map(leases.map(({ shard, epoch }) => [shard, Number(epoch)])),
    states: new Map(states.map((state) => [state.monitorId, state])),
    ...facts,
  };
}

/** Those of the monitors that are in maintenance now, by the clock of the database. */
async function findInMaintenance(tx: TransactionSql, monitorIds: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: string }[]>`
    SELECT m.id FROM monitors m
    WHERE m.id = ANY(${[...monitorIds]}::bigint[]) AND EXISTS (
      SELECT 1 FROM maintenance_windows w
      WHERE w.organization_id = m.organization_id AND (w.monitor_id IS NULL OR w.monitor_id = m.id)
        AND w.starts_at <= now() AND w.ends_at > now())`;
  return rows.map(({ id }) => Number(id));
}

/** The settings of monitors whose states are locked. */
export async function readSettings(
  tx: TransactionSql,
  monitorIds: readonly number[],
): Promise<Pick<RoundFacts, "settings" | "inMaintenance">> {
  const [settings, covered] = await Promise.all([
    tx<SettingsRow[]>`
      SELECT id, organization_id, name, shard, interval_sec, alert_threshold, recovery_threshold, alert_on_degraded,
             remind_every_sec, expiry_warn_days, escalation_policy_id, paused, type
      FROM monitors WHERE id = ANY(${[...monitorIds]}::bigint[])`,
    findInMaintenance(tx, monitorIds),
  ]);
  return {
    settings: new Map(settings.map(settingsOf).map((monitor) => [monitor.monitorId, monitor])),
    inMaintenance: new Set(covered),
  };
}

function settingsOf(row: SettingsRow): RoundSettings {
  return {
    monitorId: Number(row.id),
    organizationId: row.organization_id,
    name: row.name,
    shard: row.shard,
    intervalMs: row.interval_sec * 1000,
    alertThreshold: row.alert_threshold,
    recoveryThreshold: row.recovery_threshold,
    alertOnDegraded: row.alert_on_degraded,
    remindEverySec: row.remind_every_sec,
    expiryWarnDays: row.expiry_warn_days,
    escalationPolicyId: row.escalation_policy_id === null ? null : Number(row.escalation_policy_id),
    isPaused: row.paused,
    isHeartbeat: row.type === "heartbeat",
  };
}
