import type { TransactionSql } from "postgres";
import { insertRows } from "../../storage/insert-rows.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import type { MonitorSettings } from "./types.ts";

/** The queries about monitors; the organisation comes first in each. */

type Setting<Name extends keyof MonitorSettings> = MonitorSettings[Name];

/** What a person has set, as it is stored: its secrets sealed. */
export interface SettingColumns {
  readonly name: string;
  readonly url: string;
  readonly type: Setting<"type">;
  readonly interval_sec: Setting<"intervalSec">;
  readonly timeout_ms: number;
  readonly retry_interval_sec: number | null;
  readonly method: Setting<"method">;
  readonly sealed_body: Uint8Array | null;
  readonly follow_redirects: boolean | null;
  readonly tls_skip_verify: boolean | null;
  readonly sealed_headers: Uint8Array | null;
  readonly expected_status_code: number | null;
  readonly degraded_response_time_ms: number | null;
  readonly port: number | null;
  readonly keyword: string | null;
  readonly keyword_match_type: Setting<"keywordMatchType">;
  readonly expiry_warn_days: number;
  readonly sealed_steps: Uint8Array | null;
  readonly alert_threshold: number;
  readonly recovery_threshold: number;
  readonly alert_on_degraded: boolean;
  readonly remind_every_sec: number | null;
  readonly alert_email: string | null;
  readonly sealed_channels: Uint8Array | null;
  readonly channels: string[];
  readonly escalation_policy_id: string | null;
  readonly paused: boolean;
  readonly heartbeat_grace_sec: number;
  readonly uptime_target_bp: number;
  readonly uptime_window_days: number;
  readonly tags: string[];
  readonly regions: Setting<"regions">;
}

/** A row of `monitors`. */
export interface MonitorRow extends SettingColumns {
  readonly id: string;
  readonly organization_id: number;
  readonly sealed_heartbeat_token: Uint8Array;
  readonly resumed_at: Date | null;
  readonly shard: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

type Status = "up" | "degraded" | "down";

/** The same with what is known of it. */
export interface WatchedMonitorRow extends MonitorRow {
  readonly last_status: Status | null;
  readonly last_checked_at: Date | null;
  readonly confirmed: Status | null;
  readonly failures: number;
  readonly heartbeat_received_at: Date | null;
  readonly slo_breach_open: boolean;
}

/** What identifies the sender of heartbeats. */
export interface HeartbeatTokenColumns {
  readonly heartbeat_token_hash: Uint8Array;
  readonly sealed_heartbeat_token: Uint8Array;
}

const watched = (tx: TransactionSql) => tx`
  SELECT m.*, s.last_status, s.last_checked_at, s.confirmed, s.failures, s.heartbeat_received_at, s.slo_breach_open
  FROM monitors m JOIN monitor_state s ON s.monitor_id = m.id`;

/** Oldest first; those that carry all of the tags. */
export async function listMonitors(
  tx: TransactionSql,
  organizationId: number,
  tags: readonly string[],
): Promise<WatchedMonitorRow[]> {
  const carrying = tags.length === 0 ? tx`` : tx`AND m.tags @> ${[...tags]}::text[]`;
  return tx<WatchedMonitorRow[]>`
    ${watched(tx)} WHERE m.organization_id = ${organizationId} ${carrying} ORDER BY m.id`;
}

/** Those of the ids that the organisation has, by id. */
export async function findMonitors(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
): Promise<WatchedMonitorRow[]> {
  return tx<WatchedMonitorRow[]>`
    ${watched(tx)} WHERE m.organization_id = ${organizationId} AND m.id = ANY(${[...ids]}::bigint[]) ORDER BY m.id`;
}

/** The same, locked until the transaction ends, what is known of them included: in the order of their ids. */
export async function lockMonitors(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
): Promise<WatchedMonitorRow[]> {
  return tx<WatchedMonitorRow[]>`
    ${watched(tx)} WHERE m.organization_id = ${organizationId} AND m.id = ANY(${[...ids]}::bigint[])
    ORDER BY m.id FOR UPDATE OF m, s`;
}

/** Locks the organisation, so that its monitors are made one after the other, and counts them. */
export async function countMonitorsLocked(tx: TransactionSql, organizationId: number): Promise<number> {
  await lockOrganization(tx, organizationId);
  const [row] = await tx<{ monitors: string }[]>`
    SELECT count(*) AS monitors FROM monitors WHERE organization_id = ${organizationId}`;
  return Number(row?.monitors ?? 0);
}

/** Stores monitors of which nothing is known yet, and answers them in the order in which they were given. */
export async function insertMonitors(
  tx: TransactionSql,
  organizationId: number,
  monitors: readonly (SettingColumns & HeartbeatTokenColumns)[],
  nowMs: number,
): Promise<WatchedMonitorRow[]> {
  const now = new Date(nowMs);
  const rows = monitors.map((monitor) => ({
    ...monitor,
    organization_id: organizationId,
    created_at: now,
    updated_at: now,
  }));
  const ids = (await insertRows(tx, "monitors", rows, [])).map(({ id }) => Number(id));
  await tx`
    INSERT INTO monitor_state (monitor_id, organization_id)
    SELECT id, ${organizationId} FROM unnest(${ids}::bigint[]) AS id`;
  return findMonitors(tx, organizationId, ids);
}

/** Sets what is given; the row is locked by the caller. */
export async function updateMonitor(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  columns: Partial<SettingColumns & HeartbeatTokenColumns> & { readonly resumed_at?: Date },
  nowMs: number,
): Promise<void> {
  await tx`
    UPDATE monitors SET ${tx({ ...columns, updated_at: new Date(nowMs) })}
    WHERE organization_id = ${organizationId} AND id = ${id}`;
}

/** What is known and recorded of them goes with them; their checks in the log store age there. */
export async function deleteMonitors(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
): Promise<void> {
  await tx`DELETE FROM monitors WHERE organization_id = ${organizationId} AND id = ANY(${[...ids]}::bigint[])`;
}
