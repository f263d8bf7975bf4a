import type { Sql, TransactionSql } from "postgres";
import type { Mapping } from "../../../ingest/index.ts";
import { storableText } from "../../storage/storable-text.ts";
import type { IngestSource, StoredSample } from "./types.ts";

/** The queries about configured sources; the organisation comes first in each. */

interface SourceRow {
  id: string;
  source_key: string;
  name: string;
  format: IngestSource["format"];
  mapping: Mapping;
  preset: string | null;
  status: IngestSource["status"];
  status_reason: string | null;
  version: string;
  created_at: Date;
  updated_at: Date;
  last_received_at: Date | null;
  accepted: string;
  rejected: string;
  quarantined: string;
  samples: StoredSample[];
}

/** What a person decides about a source. */
interface SourceFields {
  readonly name: string;
  readonly format: IngestSource["format"];
  readonly mapping: Mapping;
  readonly status: IngestSource["status"];
  readonly statusReason: string | null;
}

interface NewSource extends Pick<SourceFields, "name" | "format" | "mapping"> {
  readonly sourceKey: string;
  readonly preset: string | null;
}

/** A source and what only the server sees of it. */
export interface StoredSource {
  readonly id: number;
  readonly version: string;
  readonly source: IngestSource;
  readonly samples: readonly StoredSample[];
}

/** By name of key. */
export async function listSources(tx: TransactionSql, organizationId: number): Promise<IngestSource[]> {
  const rows = await tx<SourceRow[]>`
    SELECT * FROM ingest_sources WHERE organization_id = ${organizationId} ORDER BY source_key`;
  return rows.map((row) => storedSourceOf(row).source);
}

export async function findSource(
  tx: TransactionSql,
  organizationId: number,
  sourceKey: string,
): Promise<StoredSource | null> {
  const [row] = await tx<SourceRow[]>`
    SELECT * FROM ingest_sources WHERE organization_id = ${organizationId} AND source_key = ${sourceKey}`;
  return row === undefined ? null : storedSourceOf(row);
}

/** The source, locked until the transaction ends. */
export async function lockSource(
  tx: TransactionSql,
  organizationId: number,
  sourceKey: string,
): Promise<StoredSource | null> {
  const [row] = await tx<SourceRow[]>`
    SELECT * FROM ingest_sources WHERE organization_id = ${organizationId} AND source_key = ${sourceKey} FOR UPDATE`;
  return row === undefined ? null : storedSourceOf(row);
}

/** Locks the organisation, so that its sources are made one after the other, and counts them. */
export async function countSourcesLocked(tx: TransactionSql, organizationId: number): Promise<number> {
  await tx`SELECT 1 FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`;
  const [row] = await tx<{ sources: string }[]>`
    SELECT count(*) AS sources FROM ingest_sources WHERE organization_id = ${organizationId}`;
  return Number(row?.sources ?? 0);
}

/** Null when the organisation has a source of that key. */
export async function insertSource(
  tx: TransactionSql,
  organizationId: number,
  source: NewSource,
  nowMs: number,
): Promise<IngestSource | null> {
  const { sourceKey, name, format, mapping, preset } = source;
  const now = new Date(nowMs);
  const [row] = await tx<SourceRow[]>`
    INSERT INTO ingest_sources
      (organization_id, source_key, name, format, mapping, preset, created_at, updated_at)
    VALUES (
      ${organizationId}, ${sourceKey}, ${name}, ${format}, ${JSON.stringify(mapping)}::text::json, ${preset}, ${now}, ${now}
    )
    ON CONFLICT (organization_id, source_key) DO NOTHING
    RETURNING *`;
  return row === undefined ? null : storedSourceOf(row).source;
}

/** Samples are of what came while the source was learning, and go when it no longer is. */
export async function updateSource(
  tx: TransactionSql,
  organizationId: number,
  id: number,
  fields: SourceFields,
  nowMs: number,
): Promise<IngestSource> {
  const { name, format, mapping, status, statusReason } = fields;
  const [row] = await tx<SourceRow[]>`
    UPDATE ingest_sources
    SET name = ${name}, format = ${format}, mapping = ${JSON.stringify(mapping)}::text::json, status = ${status},
        status_reason = ${statusReason}, version = version + 1, updated_at = ${new Date(nowMs)},
        samples = CASE WHEN ${status === "learning"} THEN samples ELSE '[]' END
    WHERE organization_id = ${organizationId} AND id = ${id}
    RETURNING *`;
  if (row === undefined) throw new Error("an update of a locked row returned no row");
  return storedSourceOf(row).source;
}

export async function deleteSource(tx: TransactionSql, organizationId: number, id: number): Promise<void> {
  await tx`DELETE FROM ingest_sources WHERE organization_id = ${organizationId} AND id = ${id}`;
}

/** What one source received since it was written down last. */
export interface ActivityRow {
  readonly id: number;
  readonly organizationId: number;
  readonly lastReceivedAtMs: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly quarantined: number;
  /** Null when there are no new ones. */
  readonly samples: readonly StoredSample[] | null;
  /** A status that follows from what came, unless the source was changed meanwhile. */
  readonly move: {
    readonly version: string;
    readonly to: "active" | "error";
    readonly reason: string | null;
  } | null;
}

/** Adds what sources of all organisations received; a source that is gone is passed over. */
export async function addActivity(sql: Sql, rows: readonly ActivityRow[]): Promise<void> {
  const items = rows.map(({ lastReceivedAtMs, samples, move, ...row }) => ({
    ...row,
    receivedAt: new Date(lastReceivedAtMs).toISOString(),
    samples: samples === null ? null : JSON.stringify(samples),
    moveVersion: move?.version ?? null,
    moveTo: move?.to ?? null,
    // It may show pieces of records.
    moveReason: typeof move?.reason === "string" ? storableText(move.reason) : null,
  }));
  await sql`
    UPDATE ingest_sources s
    SET accepted = s.accepted + a.accepted,
        rejected = s.rejected + a.rejected,
        quarantined = s.quarantined + a.quarantined,
        last_received_at = greatest(s.last_received_at, a."receivedAt"),
        samples = CASE WHEN s.status = 'learning' AND a.samples IS NOT NULL THEN a.samples::json ELSE s.samples END,
        status = CASE WHEN s.version = a."moveVersion" THEN a."moveTo" ELSE s.status END,
        status_reason = CASE WHEN s.version = a."moveVersion" THEN a."moveReason" ELSE s.status_reason END,
        version = CASE WHEN s.version = a."moveVersion" THEN s.version + 1 ELSE s.version END
    FROM json_to_recordset(${JSON.stringify(items)}::text::json) AS a(
      id bigint, "organizationId" integer, "receivedAt" timestamptz(3),
      accepted bigint, rejected bigint, quarantined bigint, samples text,
      "moveVersion" bigint, "moveTo" text, "moveReason" text
    )
    WHERE s.id = a.id AND s.organization_id = a."organizationId"`;
}

function storedSourceOf(row: SourceRow): StoredSource {
  const { name, format, mapping, preset, status, samples, version } = row;
  const source: IngestSource = {
    sourceKey: row.source_key,
    name,
    format,
    mapping,
    preset,
    status,
    statusReason: row.status_reason,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    lastReceivedAt: row.last_received_at?.toISOString() ?? null,
    accepted: Number(row.accepted),
    rejected: Number(row.rejected),
    quarantined: Number(row.quarantined),
  };
  return { id: Number(row.id), version, source, samples };
}
