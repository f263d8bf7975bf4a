import type { ClickHouseClient } from "@clickhouse/client";
import type { TransactionSql } from "postgres";
import { patient } from "../../../concurrency/patience.ts";
import { DependencyError } from "../../../errors.ts";
import { CHANGES_MAX, FAILING_PERIODS_READ_MAX, REGIONS_MAX, REGIONS_TIMEOUT_SEC } from "./limits.ts";
import type { AuditedChange, ContextMonitor, SeenRegion } from "./types.ts";

/** The queries of what may be behind an incident; the organisation comes first in each. Times in milliseconds since 1970. */

/** A time in which a monitor failed. */
export interface FailingPeriod {
  readonly monitorId: number;
  readonly name: string;
  readonly url: string;
  readonly status: "degraded" | "down";
  readonly startedAt: Date;
  readonly endedAt: Date | null;
}

/** Who failed at some moment between the two, the latest to begin first. */
export async function failingPeriods(
  tx: TransactionSql,
  organizationId: number,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<FailingPeriod[]> {
  const rows = await tx<
    {
      id: string;
      name: string;
      url: string;
      status: "degraded" | "down";
      started_at: Date;
      ended_at: Date | null;
    }[]
  >`
    SELECT m.id, m.name, m.url, p.status, p.started_at, p.ended_at
    FROM monitor_periods p JOIN monitors m ON m.id = p.monitor_id AND m.organization_id = p.organization_id
    WHERE p.organization_id = ${organizationId} AND p.status IN ('degraded', 'down')
      AND p.started_at <= ${new Date(toMs)} AND (p.ended_at IS NULL OR p.ended_at >= ${new Date(fromMs)})
    ORDER BY p.started_at DESC, m.id LIMIT ${FAILING_PERIODS_READ_MAX}`;
  return rows.map(({ id, started_at, ended_at, ...row }) => ({
    ...row,
    monitorId: Number(id),
    startedAt: started_at,
    endedAt: ended_at,
  }));
}

/** Those of the monitors that exist. */
export async function findMonitors(
  tx: TransactionSql,
  organizationId: number,
  ids: readonly number[],
): Promise<ContextMonitor[]> {
  if (ids.length === 0) return [];
  const rows = await tx<
    (Pick<ContextMonitor, "name" | "url" | "type" | "paused" | "status"> & {
      id: string;
      since: Date | null;
    })[]
  >`
    SELECT m.id, m.name, m.url, m.type, m.paused, s.confirmed AS status, s.confirmed_at AS since
    FROM monitors m
    LEFT JOIN monitor_state s ON s.monitor_id = m.id AND s.organization_id = m.organization_id
    WHERE m.organization_id = ${organizationId} AND m.id = ANY(${[...ids]}::bigint[]) ORDER BY m.id`;
  return rows.map(({ id, since, ...row }) => ({
    ...row,
    id: Number(id),
    since: since?.toISOString() ?? null,
  }));
}

/** What people changed, the latest first, but for what they did about incidents, what they read, and who signed in. */
export async function auditedChanges(
  tx: TransactionSql,
  organizationId: number,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<AuditedChange[]> {
  const rows = await tx<
    { id: string; created_at: Date; actor_email: string; action: string; resource: string; fields: unknown }[]
  >`
    SELECT id, created_at, actor_email, action, resource, meta->'changedFields' AS fields FROM audit_log
    WHERE organization_id = ${organizationId}
      AND created_at >= ${new Date(fromMs)} AND created_at <= ${new Date(toMs)}
      AND resource NOT LIKE 'incident:%' AND action NOT LIKE 'READ%' AND action NOT LIKE '%LOGIN'
      AND action NOT IN ('LOGOUT', 'EXPORT_ACCOUNT')
    ORDER BY created_at DESC, seq DESC LIMIT ${CHANGES_MAX}`;
  return rows.map(({ id, created_at, actor_email, action, resource, fields }) => ({
    auditId: Number(id),
    at: created_at.toISOString(),
    actor: actor_email,
    action,
    resource,
    changedFields: Array.isArray(fields) ? fields.map(String) : [],
  }));
}

interface RegionRow {
  readonly monitor_id: string;
  readonly region: string;
  readonly checks: string;
  readonly failed: string;
  readonly error: string;
}

/** From where the monitors were checked and what was found. Throws a retryable DependencyError. */
export async function seenRegions(
  clickhouse: ClickHouseClient,
  organizationId: number,
  { monitorIds, fromMs, toMs }: { monitorIds: readonly number[]; fromMs: number; toMs: number },
  signal: AbortSignal,
): Promise<SeenRegion[]> {
  if (monitorIds.length === 0) return [];
  try {
    const result = await clickhouse.query({
      query: `
        SELECT monitor_id, region, count() AS checks, countIf(status IN ('down', 'degraded')) AS failed,
               argMaxIf(error, started_at, status IN ('down', 'degraded')) AS error
        FROM monitor_checks
        WHERE organization_id = {organizationId: UInt32} AND monitor_id IN {monitorIds: Array(UInt64)}
          AND started_at >= fromUnixTimestamp64Milli({fromMs: Int64})
          AND started_at <= fromUnixTimestamp64Milli({toMs: Int64})
        GROUP BY monitor_id, region ORDER BY monitor_id, region LIMIT ${REGIONS_MAX}`,
      query_params: { organizationId, monitorIds: [...monitorIds], fromMs, toMs },
      format: "JSONEachRow",
      clickhouse_settings: { max_execution_time: patient(REGIONS_TIMEOUT_SEC), readonly: "1" },
      abort_signal: signal,
    });
    const rows = await result.json<RegionRow>();
    return rows.map(({ monitor_id, region, checks, failed, error }) => ({
      monitorId: Number(monitor_id),
      region,
      checks: Number(checks),
      failed: Number(failed),
      error: error === "" ? null : error,
    }));
  } catch (cause) {
    throw new DependencyError("clickhouse", "the regions were not answered", { retryable: true, cause });
  }
}
