import type { TestStores } from "../../harness/stores.ts";

/** A row of `monitor_checks`; what is absent is as of a check that was well. */
interface StoredCheck {
  readonly organizationId: number;
  readonly monitorId: number;
  readonly atMs: number;
  readonly region?: string;
  readonly status?: "up" | "degraded" | "down" | "unknown" | "missed";
  readonly durationMs?: number;
  readonly statusCode?: number;
  readonly error?: string;
  readonly inMaintenance?: boolean;
  readonly slots?: number;
}

export async function insertChecks(stores: TestStores, checks: readonly StoredCheck[]): Promise<void> {
  await stores.clickhouse.insert({
    table: "monitor_checks",
    format: "JSONEachRow",
    values: checks.map((check) => ({
      organization_id: check.organizationId,
      monitor_id: check.monitorId,
      started_at: timeText(check.atMs),
      slot: timeText(check.atMs),
      region: check.region ?? "local",
      status: check.status ?? "up",
      duration_ms: check.durationMs ?? 10,
      status_code: check.statusCode ?? 0,
      error: check.error ?? "",
      in_maintenance: check.inMaintenance ?? false,
      slots: check.slots ?? 1,
    })),
    clickhouse_settings: { async_insert: 0 },
  });
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(0, -1).replace("T", " ");
}

export async function insertPeriod(
  { postgres: sql }: TestStores,
  organizationId: number,
  monitorId: number,
  [status, fromMs, toMs]: readonly [string, number, number | null],
): Promise<void> {
  await sql`
    INSERT INTO monitor_periods (organization_id, monitor_id, status, started_at, ended_at)
    VALUES (${organizationId}, ${monitorId}, ${status}, ${new Date(fromMs)}, ${toMs === null ? null : new Date(toMs)})`;
}
