import type { Sql, TransactionSql } from "postgres";
import type { TimeRange } from "../../../query/index.ts";

/** The queries of whoever reads archived entries about the ledger of the archive; the organisation comes first. */

/** A file with entries of one organisation. */
export interface ArchivedFile {
  readonly name: string;
  /** The day of receipt, `YYYY-MM-DD`. */
  readonly day: string;
  readonly rows: number;
  readonly bytes: number;
  /** Nanoseconds since 1970. */
  readonly minTs: bigint;
  readonly maxTs: bigint;
  /** Larger for what was archived later. */
  readonly seq: number;
  /** Whether the log store may still have some of the entries, or all. */
  readonly isMoving: boolean;
}

/** The archive of an organisation at one moment. */
export interface ArchiveExtent {
  /** The same for as long as the same files are read. */
  readonly version: string;
  /** From the earliest to the latest entry; null for none. */
  readonly span: { readonly from: bigint; readonly to: bigint } | null;
}

const EARLIEST_NS = -(2n ** 63n);
const LATEST_NS = 2n ** 63n - 1n;

interface FileRow {
  file: string;
  day: string;
  rows: string;
  bytes: string;
  min_ts: string;
  max_ts: string;
  seq: number;
  is_moving: boolean;
}

/** The files that can have entries of that time, those with the newest ones first. */
export async function listArchivedFiles(
  tx: TransactionSql,
  organizationId: number,
  { from, to }: TimeRange,
  limit: number,
): Promise<ArchivedFile[]> {
  const rows = await tx<FileRow[]>`
    SELECT file, to_char(day, 'YYYY-MM-DD') AS day, rows, bytes, min_ts, max_ts, seq, state = 'committed' AS is_moving
    FROM log_archive_units
    WHERE organization_id = ${organizationId} AND state <> 'planned'
      AND max_ts >= ${String(clamped(from ?? EARLIEST_NS))}::bigint AND min_ts <= ${String(clamped(to ?? LATEST_NS))}::bigint
    ORDER BY max_ts DESC, id DESC LIMIT ${limit}`;
  return rows.map(readFile);
}

/** The files with entries that were received on the days from one to another, both included. */
export async function listFilesOfDays(
  tx: TransactionSql,
  organizationId: number,
  [first, last]: readonly [string, string],
  limit: number,
): Promise<ArchivedFile[]> {
  const rows = await tx<FileRow[]>`
    SELECT file, to_char(day, 'YYYY-MM-DD') AS day, rows, bytes, min_ts, max_ts, seq, state = 'committed' AS is_moving
    FROM log_archive_units
    WHERE organization_id = ${organizationId} AND state <> 'planned' AND day BETWEEN ${first}::date AND ${last}::date
    ORDER BY max_ts DESC, id DESC LIMIT ${limit}`;
  return rows.map(readFile);
}

/** Whether the archive has a file of that day of receipt (`YYYY-MM-DD`) or a later one. */
export async function hasFilesSince(
  tx: TransactionSql,
  organizationId: number,
  day: string,
): Promise<boolean> {
  const [row] = await tx<{ found: boolean }[]>`
    SELECT EXISTS (SELECT FROM log_archive_units
                   WHERE organization_id = ${organizationId} AND state <> 'planned' AND day >= ${day}::date) AS found`;
  return row?.found === true;
}

/** A unit of the archive, as it is listed. */
interface ListedUnit extends ArchivedFile {
  readonly id: number;
  /** Null while it is moving. */
  readonly doneAt: Date | null;
}

/** The units that searches read, the last planned first; those before one, if it is given. */
export async function listUnits(
  tx: TransactionSql,
  organizationId: number,
  beforeId: number | null,
  limit: number,
): Promise<ListedUnit[]> {
  const rows = await tx<(FileRow & { id: number; done_at: Date | null })[]>`
    SELECT id, done_at, file, to_char(day, 'YYYY-MM-DD') AS day, rows, bytes, min_ts, max_ts, seq,
           state = 'committed' AS is_moving
    FROM log_archive_units
    WHERE organization_id = ${organizationId} AND state <> 'planned'
      AND (${beforeId}::bigint IS NULL OR id < ${beforeId}::bigint)
    ORDER BY id DESC LIMIT ${limit}`;
  return rows.map(({ id, done_at: doneAt, ...file }) => ({ ...readFile(file), id, doneAt }));
}

export async function readExtent(tx: TransactionSql, organizationId: number): Promise<ArchiveExtent> {
  const [row] = await tx<{ version: string; min_ts: string | null; max_ts: string | null }[]>`
    SELECT coalesce((SELECT version FROM log_archive_versions WHERE organization_id = ${organizationId}), 0) AS version,
           min(min_ts) AS min_ts, max(max_ts) AS max_ts
    FROM log_archive_units WHERE organization_id = ${organizationId} AND state <> 'planned'`;
  if (row === undefined) throw new Error("an aggregate gave no row");
  const { version, min_ts: from, max_ts: to } = row;
  return { version, span: from === null || to === null ? null : { from: BigInt(from), to: BigInt(to) } };
}

/**
 * The version alone, in one round trip: it is asked after every answer. As the owner of the tables, since a transaction
 * of the organisation takes four; it is a number.
 */
export async function readVersion(sql: Sql, organizationId: number): Promise<string> {
  const [row] = await sql<{ version: string }[]>`
    SELECT version FROM log_archive_versions WHERE organization_id = ${organizationId}`;
  return row?.version ?? "0";
}

function readFile({ file, day, rows, bytes, min_ts, max_ts, seq, is_moving }: FileRow): ArchivedFile {
  return {
    name: file,
    day,
    rows: Number(rows),
    bytes: Number(bytes),
    minTs: BigInt(min_ts),
    maxTs: BigInt(max_ts),
    seq,
    isMoving: is_moving,
  };
}

/** A time of a request, which can be any, as one of the ledger's. */
function clamped(ns: bigint): bigint {
  if (ns < EARLIEST_NS) return EARLIEST_NS;
  return ns > LATEST_NS ? LATEST_NS : ns;
}
