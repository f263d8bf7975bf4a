import type { TransactionSql } from "postgres";
import type { Period } from "./slo.ts";
import type { Span } from "./spans.ts";

/** Periods that one question reads at most: a year of a hundred monitors that change ten times a week. */
const PERIODS_MAX = 100_000;

/** Periods by monitor, each list oldest first; `isCut` when the oldest are missing, for there are too many. */
interface PeriodsRead {
  readonly byMonitor: ReadonlyMap<number, readonly Period[]>;
  readonly isCut: boolean;
}

/** The periods of monitors that lie at least partly in a stretch of time. */
export async function readPeriods(
  tx: TransactionSql,
  organizationId: number,
  monitorIds: readonly number[],
  { fromMs, toMs }: Span,
): Promise<PeriodsRead> {
  const rows = await tx<
    { monitor_id: string; status: Period["status"]; started_at: Date; ended_at: Date | null }[]
  >`
    SELECT monitor_id, status, started_at, ended_at FROM monitor_periods
    WHERE organization_id = ${organizationId} AND monitor_id = ANY(${[...monitorIds]}::bigint[])
      AND started_at < ${new Date(toMs)} AND (ended_at IS NULL OR ended_at > ${new Date(fromMs)})
    ORDER BY started_at DESC, id DESC LIMIT ${PERIODS_MAX}`;
  const byMonitor = new Map<number, Period[]>(monitorIds.map((id) => [id, []]));
  for (const row of rows.toReversed())
    byMonitor.get(Number(row.monitor_id))?.push({
      status: row.status,
      fromMs: row.started_at.getTime(),
      toMs: row.ended_at?.getTime() ?? null,
    });
  return { byMonitor, isCut: rows.length === PERIODS_MAX };
}
