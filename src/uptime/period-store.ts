import type { TransactionSql } from "postgres";
import type { PeriodStart } from "./monitor-state.ts";

/** A monitor that is in another state from then on. */
interface MonitorPeriod extends PeriodStart {
  readonly organizationId: number;
  readonly monitorId: number;
}

/**
 * Begins periods, several of one monitor in their order. Periods of a monitor follow each other without a gap and do not
 * overlap: one that would begin before or with the one that goes on takes its place, and where none goes on it begins
 * where the last one ended. The monitors' rows of `monitor_state` are locked by whoever calls.
 */
export async function beginPeriods(tx: TransactionSql, periods: readonly MonitorPeriod[]): Promise<void> {
  for (const wave of wavesOf(periods)) {
    const given = tx`jsonb_to_recordset(${tx.json(wave.map(recordOf))}) AS given (
      organization_id integer, monitor_id bigint, status text, since timestamptz)`;
    await tx`
      UPDATE monitor_periods AS open SET status = given.status FROM ${given}
      WHERE open.monitor_id = given.monitor_id AND open.ended_at IS NULL AND open.started_at >= given.since`;
    await tx`
      UPDATE monitor_periods AS open SET ended_at = given.since FROM ${given}
      WHERE open.monitor_id = given.monitor_id AND open.ended_at IS NULL AND open.started_at < given.since
        AND open.status <> given.status`;
    await tx`
      INSERT INTO monitor_periods (organization_id, monitor_id, status, started_at)
      SELECT organization_id, monitor_id, status, coalesce(
        (SELECT max(ended_at) FROM monitor_periods AS earlier WHERE earlier.monitor_id = given.monitor_id), since)
      FROM ${given}
      WHERE NOT EXISTS (
        SELECT 1 FROM monitor_periods AS open WHERE open.monitor_id = given.monitor_id AND open.ended_at IS NULL)`;
  }
}

/** The first of each monitor, then the second of each, and so on. */
function wavesOf(periods: readonly MonitorPeriod[]): MonitorPeriod[][] {
  const waves: MonitorPeriod[][] = [];
  const counts = new Map<number, number>();
  for (const period of periods) {
    const index = counts.get(period.monitorId) ?? 0;
    counts.set(period.monitorId, index + 1);
    const wave = waves[index] ?? [];
    wave.push(period);
    waves[index] = wave;
  }
  return waves;
}

function recordOf({ organizationId, monitorId, status, sinceMs }: MonitorPeriod) {
  return {
    organization_id: organizationId,
    monitor_id: monitorId,
    status,
    since: new Date(sinceMs).toISOString(),
  };
}
