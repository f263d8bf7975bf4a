import type { TransactionSql } from "postgres";

/** Announced work on a monitor, or on all of an organisation where `monitorId` is null: half-open. */
export interface MaintenanceWindow {
  readonly monitorId: number | null;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Whether work on a monitor is announced for a moment. */
export function isCovered(windows: readonly MaintenanceWindow[], monitorId: number, atMs: number): boolean {
  return windowsOfMonitor(windows, monitorId).some(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
}

/** Those that hold for a monitor. */
export function windowsOfMonitor(
  windows: readonly MaintenanceWindow[],
  monitorId: number,
): MaintenanceWindow[] {
  return windows.filter((window) => window.monitorId === null || window.monitorId === monitorId);
}

/** When the work of windows that is under way at a moment is over; null when none is. */
export function endOfWork(windows: readonly MaintenanceWindow[], atMs: number): number | null {
  const ends = windows.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs).map(({ toMs }) => toMs);
  return ends.length === 0 ? null : Math.max(...ends);
}

/** The windows of monitors, those of all monitors included, that lie at least partly in a stretch of time. */
export async function readWindows(
  tx: TransactionSql,
  organizationId: number,
  monitorIds: readonly number[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<MaintenanceWindow[]> {
  const rows = await tx<{ monitor_id: string | null; starts_at: Date; ends_at: Date }[]>`
    SELECT monitor_id, starts_at, ends_at FROM maintenance_windows
    WHERE organization_id = ${organizationId} AND (monitor_id IS NULL OR monitor_id = ANY(${[...monitorIds]}::bigint[]))
      AND starts_at <= ${new Date(toMs)} AND ends_at > ${new Date(fromMs)}
    ORDER BY starts_at, id`;
  return rows.map((row) => ({
    monitorId: row.monitor_id === null ? null : Number(row.monitor_id),
    fromMs: row.starts_at.getTime(),
    toMs: row.ends_at.getTime(),
  }));
}
