import type { TransactionSql } from "postgres";
import type { Span } from "../../uptime/spans.ts";

/** Windows of one page. */
const WINDOWS_MAX = 1000;

/** Announced work as everyone may know it. */
export interface ShownWindow extends Span {
  /** Null for work on everything. */
  readonly monitorId: number | null;
  readonly title: string | null;
}

/** Work on monitors that ends after `sinceMs`, however far ahead it lies; in the order in which it begins. */
export async function readShownWindows(
  tx: TransactionSql,
  organizationId: number,
  monitorIds: readonly number[],
  sinceMs: number,
): Promise<ShownWindow[]> {
  const rows = await tx<
    { monitor_id: string | null; title: string | null; starts_at: Date; ends_at: Date }[]
  >`
    SELECT monitor_id, title, starts_at, ends_at FROM maintenance_windows
    WHERE organization_id = ${organizationId} AND ends_at > ${new Date(sinceMs)}
      AND (monitor_id IS NULL OR monitor_id = ANY(${[...monitorIds]}::bigint[]))
    ORDER BY starts_at, id LIMIT ${WINDOWS_MAX}`;
  return rows.map(({ monitor_id, title, starts_at, ends_at }) => ({
    monitorId: monitor_id === null ? null : Number(monitor_id),
    title,
    fromMs: starts_at.getTime(),
    toMs: ends_at.getTime(),
  }));
}

/** When work on one monitor is announced. */
export function shownSpans(windows: readonly ShownWindow[], monitorId: number): Span[] {
  return windows.filter((window) => window.monitorId === null || window.monitorId === monitorId);
}
