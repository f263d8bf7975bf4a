import type { ClickHouseClient } from "@clickhouse/client";
import { LOG_ID_EPOCH_MS } from "../../../ingest/index.ts";

/** A row of the table `logs` as a test writes it. */
export interface StoredRow {
  organizationId: number;
  /** Nanoseconds since 1970. */
  ts: bigint;
  id: bigint;
  message: string;
  level?: string;
  service?: string;
  source?: string;
  host?: string;
  traceId?: string;
  spanId?: string;
  eventId?: string;
  /** Key and text; a string value as it is, JSON text for the keys in `jsonKeys`, empty for null. */
  attrs?: readonly (readonly [string, string])[];
  jsonKeys?: readonly string[];
}

/** The smallest id of a millisecond since 1970, plus an offset. */
export function idAt(epochMs: number, offset = 0): bigint {
  return (BigInt(epochMs - LOG_ID_EPOCH_MS) << 22n) + BigInt(offset);
}

/** The text of an attribute's value: a string as it is, null as an empty text, any other value as JSON. */
export function storedText(value: unknown): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Puts rows into the table, as one part, past the ingest pipeline. */
export async function insertRows(clickhouse: ClickHouseClient, rows: readonly StoredRow[]): Promise<void> {
  await clickhouse.insert({
    table: "logs",
    format: "JSONEachRow",
    values: rows.map((row) => ({
      organization_id: row.organizationId,
      ts: storedTime(row.ts),
      id: row.id.toString(),
      received_at: storedTime(((row.id >> 22n) + BigInt(LOG_ID_EPOCH_MS)) * 1_000_000n),
      level: row.level ?? "",
      service: row.service ?? "",
      source: row.source ?? "",
      host: row.host ?? "",
      message: row.message,
      trace_id: row.traceId ?? "",
      span_id: row.spanId ?? "",
      event_id: row.eventId ?? "",
      attrs: Object.fromEntries(row.attrs ?? []),
      attr_json_keys: row.jsonKeys ?? [],
    })),
    clickhouse_settings: { insert_deduplicate: 0 },
  });
}

/** A time in the form in which ClickHouse reads it, also before 1970. */
function storedTime(nanoseconds: bigint): string {
  const SECOND = 1_000_000_000n;
  const fraction = ((nanoseconds % SECOND) + SECOND) % SECOND;
  const whole = new Date(Number((nanoseconds - fraction) / 1_000_000n))
    .toISOString()
    .slice(0, 19)
    .replace("T", " ");
  return `${whole}.${fraction.toString().padStart(9, "0")}`;
}
