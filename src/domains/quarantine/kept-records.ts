import type { TransactionSql } from "postgres";
import { INSERT_MAX_BYTES, INSERT_MAX_RECORDS } from "./limits.ts";

/** The queries that keep records; the organisation comes first in each. */

/** A record that is to be kept. */
export interface NewRecord {
  readonly key: Uint8Array | null;
  readonly place: string;
  readonly reason: string;
  readonly raw: Uint8Array;
}

/** What an organisation has in its quarantine. */
interface Usage {
  readonly records: number;
  readonly bytes: number;
}

/** Locks what an organisation has, so that those who keep for it do so one after the other. */
export async function lockUsage(tx: TransactionSql, organizationId: number): Promise<Usage> {
  const [row] = await tx<{ records: string; bytes: string }[]>`
    INSERT INTO quarantine_usage (organization_id, records, bytes) VALUES (${organizationId}, 0, 0)
    ON CONFLICT (organization_id) DO UPDATE SET records = quarantine_usage.records
    RETURNING records, bytes`;
  return { records: Number(row?.records ?? 0), bytes: Number(row?.bytes ?? 0) };
}

/** The same, as it is at the moment. */
export async function readUsage(tx: TransactionSql, organizationId: number): Promise<Usage> {
  const [row] = await tx<{ records: string; bytes: string }[]>`
    SELECT records, bytes FROM quarantine_usage WHERE organization_id = ${organizationId}`;
  return { records: Number(row?.records ?? 0), bytes: Number(row?.bytes ?? 0) };
}

export async function raiseUsage(tx: TransactionSql, organizationId: number, added: Usage): Promise<void> {
  await tx`
    UPDATE quarantine_usage SET records = records + ${added.records}, bytes = bytes + ${added.bytes}
    WHERE organization_id = ${organizationId}`;
}

/** Those of the keys, in hexadecimal, under which a record is kept already, in whatever state. */
export async function findKeptKeys(
  tx: TransactionSql,
  organizationId: number,
  keys: readonly Uint8Array[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const hex = keys.map((key) => Buffer.from(key).toString("hex"));
  const rows = await tx<{ key: string }[]>`
    SELECT encode(record_key, 'hex') AS key FROM quarantine_records
    WHERE organization_id = ${organizationId}
      AND record_key IN (SELECT decode(unnest(${hex}::text[]), 'hex'))`;
  return new Set(rows.map(({ key }) => key));
}

/** Inserts the records, in their order, in statements of a bounded size. */
export async function insertRecords(
  tx: TransactionSql,
  organizationId: number,
  origin: { format: string; sourceKey: string | null; nowMs: number },
  records: readonly NewRecord[],
): Promise<void> {
  for (const part of partsOf(records)) {
    const rows = part.map(({ key, place, reason, raw }) => ({
      key: key === null ? null : Buffer.from(key).toString("hex"),
      place,
      reason,
      raw: Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("hex"),
    }));
    await tx`
      INSERT INTO quarantine_records
        (organization_id, record_key, format, source_key, place, reason, raw, raw_bytes, received_at)
      SELECT ${organizationId}, decode(key, 'hex'), ${origin.format}, ${origin.sourceKey}, place, reason,
             decode(raw, 'hex'), length(raw) / 2, ${new Date(origin.nowMs)}
      FROM unnest(
        ${rows.map(({ key }) => key)}::text[], ${rows.map(({ place }) => place)}::text[],
        ${rows.map(({ reason }) => reason)}::text[], ${rows.map(({ raw }) => raw)}::text[]
      ) WITH ORDINALITY AS record (key, place, reason, raw, number)
      ORDER BY number`;
  }
}

function* partsOf(records: readonly NewRecord[]): Generator<readonly NewRecord[]> {
  let part: NewRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    if (
      part.length > 0 &&
      (part.length === INSERT_MAX_RECORDS || bytes + record.raw.length > INSERT_MAX_BYTES)
    ) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(record);
    bytes += record.raw.length;
  }
  if (part.length > 0) yield part;
}
