import type { Sql, TransactionSql } from "postgres";

/** The queries about quarantined records; the organisation comes first in each. */

type RecordState = "held" | "replaying" | "replayed";

/** Which records are meant; what is absent leaves none out. `from` is included, `to` is not. */
export interface RecordFilter {
  readonly sourceKey?: string | undefined;
  readonly format?: string | undefined;
  /** A part of the reason, in any case. */
  readonly reason?: string | undefined;
  readonly ids?: readonly number[] | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A record as it is shown; `raw` is its beginning where `rawBytes` is larger. */
export interface StoredRecord {
  readonly id: number;
  readonly sourceKey: string | null;
  readonly format: string;
  readonly place: string;
  readonly reason: string;
  readonly state: RecordState;
  readonly receivedAt: Date;
  readonly replayedAt: Date | null;
  readonly raw: Uint8Array;
  readonly rawBytes: number;
}

interface RecordRow {
  id: string;
  source_key: string | null;
  format: string;
  place: string;
  reason: string;
  state: RecordState;
  received_at: Date;
  replayed_at: Date | null;
  raw: Uint8Array;
  raw_bytes: number;
}

/** Times that both JavaScript and Postgres write the same way; no record was received outside. */
const EARLIEST_MS = Date.parse("0001-01-02T00:00:00.000Z");
const LATEST_MS = Date.parse("9999-12-30T00:00:00.000Z");

/** The first millisecond at or after a date-time, as records are received at whole ones. */
function storedTime(text: string): Date {
  const ms = Date.parse(text.replace(/(\.\d{3})\d+/, "$1")) + (/\.\d{3}0*[1-9]/.test(text) ? 1 : 0);
  return new Date(Math.min(LATEST_MS, Math.max(EARLIEST_MS, ms)));
}

/** The condition of a filter, about the table under its own name. */
export function matching(
  tx: TransactionSql,
  { sourceKey, format, reason, ids, from, to }: RecordFilter,
): ReturnType<TransactionSql> {
  const fromTime = from === undefined ? null : storedTime(from);
  const toTime = to === undefined ? null : storedTime(to);
  return tx`(
    (${sourceKey ?? null}::text IS NULL OR source_key = ${sourceKey ?? null})
    AND (${format ?? null}::text IS NULL OR format = ${format ?? null})
    AND (${reason ?? null}::text IS NULL OR position(lower(${reason ?? null}) IN lower(reason)) > 0)
    AND (${fromTime}::timestamptz IS NULL OR received_at >= ${fromTime})
    AND (${toTime}::timestamptz IS NULL OR received_at < ${toTime})
    AND (${ids === undefined} OR id = ANY(${[...(ids ?? [])]}::bigint[]))
  )`;
}

/** At most `limit` records below `before`, newest first, each with the first `rawBytes` bytes of it. */
export async function findRecords(
  tx: TransactionSql,
  organizationId: number,
  filter: RecordFilter,
  page: { state: RecordState | null; before: number | null; limit: number; rawBytes: number },
): Promise<StoredRecord[]> {
  const rows = await tx<RecordRow[]>`
    SELECT id, source_key, format, place, reason, state, received_at, replayed_at, raw_bytes,
           substring(raw FROM 1 FOR ${page.rawBytes}) AS raw
    FROM quarantine_records
    WHERE organization_id = ${organizationId} AND ${matching(tx, filter)}
      AND (${page.state}::text IS NULL OR state = ${page.state})
      AND (${page.before}::bigint IS NULL OR id < ${page.before})
    ORDER BY id DESC LIMIT ${page.limit}`;
  return rows.map(recordOf);
}

/** The record, whole; null when the organisation has none of that id. */
export async function findRecord(
  tx: TransactionSql,
  organizationId: number,
  id: number,
): Promise<StoredRecord | null> {
  const [row] = await tx<RecordRow[]>`
    SELECT id, source_key, format, place, reason, state, received_at, replayed_at, raw_bytes, raw
    FROM quarantine_records WHERE organization_id = ${organizationId} AND id = ${id}`;
  return row === undefined ? null : recordOf(row);
}

function recordOf(row: RecordRow): StoredRecord {
  return {
    id: Number(row.id),
    sourceKey: row.source_key,
    format: row.format,
    place: row.place,
    reason: row.reason,
    state: row.state,
    receivedAt: row.received_at,
    replayedAt: row.replayed_at,
    raw: row.raw,
    rawBytes: row.raw_bytes,
  };
}

/** The records that are held and match, up to `upTo`, and the largest id of them. */
export async function countHeld(
  tx: TransactionSql,
  organizationId: number,
  filter: RecordFilter,
  range: { after: number; upTo: number },
): Promise<{ records: number; lastId: number }> {
  const [row] = await tx<{ records: string; last: string | null }[]>`
    SELECT count(*) AS records, max(id) AS last FROM quarantine_records
    WHERE organization_id = ${organizationId} AND state = 'held' AND id > ${range.after} AND id <= ${range.upTo}
      AND ${matching(tx, filter)}`;
  return { records: Number(row?.records ?? 0), lastId: Number(row?.last ?? 0) };
}

/** How many that match are part of a replay, be it of another caller or an interrupted one. */
export async function countReplaying(
  tx: TransactionSql,
  organizationId: number,
  filter: RecordFilter,
): Promise<number> {
  const [row] = await tx<{ records: string }[]>`
    SELECT count(*) AS records FROM quarantine_records
    WHERE organization_id = ${organizationId} AND state = 'replaying' AND ${matching(tx, filter)}`;
  return Number(row?.records ?? 0);
}

/** One pair of source and reason. */
interface SummaryGroup {
  readonly sourceKey: string | null;
  readonly format: string;
  readonly reason: string;
  readonly records: number;
  readonly firstReceivedAt: Date;
  readonly lastReceivedAt: Date;
}

/** What is held or being replayed by source and reason, the most first, at most `limit` pairs. */
export async function summarize(
  tx: TransactionSql,
  organizationId: number,
  limit: number,
): Promise<SummaryGroup[]> {
  const rows = await tx<
    { source_key: string | null; format: string; reason: string; records: string; first: Date; last: Date }[]
  >`
    SELECT source_key, format, reason, count(*) AS records, min(received_at) AS first, max(received_at) AS last
    FROM quarantine_records WHERE organization_id = ${organizationId} AND state <> 'replayed'
    GROUP BY source_key, format, reason
    ORDER BY count(*) DESC, source_key, format, reason LIMIT ${limit}`;
  return rows.map(({ source_key, format, reason, records, first, last }) => ({
    sourceKey: source_key,
    format,
    reason,
    records: Number(records),
    firstReceivedAt: first,
    lastReceivedAt: last,
  }));
}

/** Removes at most `limit` records that are held and match, oldest first. Answers how many and of how many bytes. */
export async function deleteHeld(
  tx: TransactionSql,
  organizationId: number,
  filter: RecordFilter,
  limit: number,
): Promise<{ records: number; bytes: number }> {
  const rows = await tx<{ raw_bytes: number }[]>`
    WITH chosen AS MATERIALIZED (
      SELECT id FROM quarantine_records
      WHERE organization_id = ${organizationId} AND state = 'held' AND ${matching(tx, filter)}
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM quarantine_records USING chosen
    WHERE quarantine_records.organization_id = ${organizationId} AND quarantine_records.id = chosen.id
    RETURNING raw_bytes`;
  const bytes = rows.reduce((sum, row) => sum + row.raw_bytes, 0);
  await lowerUsage(tx, organizationId, rows.length, bytes);
  return { records: rows.length, bytes };
}

/** Records leave the quarantine: always after their rows are locked, never before. */
export async function lowerUsage(
  tx: Sql | TransactionSql,
  organizationId: number,
  records: number,
  bytes: number,
): Promise<void> {
  if (records === 0) return;
  await tx`
    UPDATE quarantine_usage SET records = records - ${records}, bytes = bytes - ${bytes}
    WHERE organization_id = ${organizationId}`;
}
