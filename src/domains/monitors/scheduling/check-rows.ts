import type { CheckError, CheckOutcome } from "../../../probes/check.ts";

/** A row of `monitor_checks`. Times are milliseconds since 1970. */
export interface CheckRow {
  readonly organizationId: number;
  readonly monitorId: number;
  readonly startedAtMs: number;
  readonly region: string;
  readonly slotMs: number;
  readonly status: CheckOutcome["status"] | "missed";
  readonly error: CheckError | null;
  readonly outcome: CheckOutcome | null;
  readonly lateMs: number;
  readonly isInMaintenance: boolean;
  /** How many slots it stands for. */
  readonly slots: number;
}

/** Rows as ClickHouse takes them, a line of JSON each. */
export function encodeCheckRows(rows: readonly CheckRow[]): Uint8Array {
  return Buffer.from(rows.map((row) => `${JSON.stringify(columnsOf(row))}\n`).join(""));
}

function columnsOf(row: CheckRow) {
  const { outcome } = row;
  return {
    organization_id: row.organizationId,
    monitor_id: row.monitorId,
    started_at: timeOf(row.startedAtMs),
    region: row.region,
    slot: timeOf(row.slotMs),
    status: row.status,
    duration_ms: outcome?.durationMs ?? 0,
    dns_ms: outcome?.phases.dnsMs ?? 0,
    connect_ms: outcome?.phases.connectMs ?? 0,
    tls_ms: outcome?.phases.tlsMs ?? 0,
    first_byte_ms: outcome?.phases.firstByteMs ?? 0,
    status_code: outcome?.statusCode ?? 0,
    error: row.error ?? "",
    late_ms: row.lateMs,
    in_maintenance: row.isInMaintenance,
    slots: row.slots,
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23).replace("T", " ");
}
