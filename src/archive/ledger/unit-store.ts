import type { ReservedSql, Sql } from "postgres";
import { CLAIM_LOOKS_AT, DELETION_MAX_UNITS, RETRY_BASE_MS, RETRY_MAX_MS } from "../limits.ts";

/** The queries about the ledger of the archive. The work concerns all organisations; a unit belongs to one. */

/** What a unit is from its planning on. */
export interface UnitKey {
  readonly id: number;
  readonly organizationId: number;
  /** The day of receipt, `YYYY-MM-DD`. */
  readonly day: string;
}

/** What was found in a file, and in the log store before it let go. */
export interface FileFacts {
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly checksum: string;
  /** Nanoseconds since 1970. */
  readonly minTs: bigint;
  readonly maxTs: bigint;
}

/** A unit whose entries the archive has, and the log store perhaps as well. */
export interface CommittedUnit extends UnitKey {
  readonly attempt: number;
  readonly facts: FileFacts;
}

/** Advisory locks of the archive: a number that no other lock of two numbers has, and the id of a unit or one of these. */
const LOCK_CLASS = 0x0b5a;
const SWEEP_LOCK = 0;
const DELETION_LOCK = -1;

/**
 * Plans what a day has, unless it is planned already or the organisation is gone. While records of its quarantine are
 * being replayed nothing is: whether an interrupted replay stored its entries is looked up in the log store.
 */
export async function planUnit(sql: Sql, organizationId: number, day: string): Promise<void> {
  await sql`
    INSERT INTO log_archive_units (organization_id, day, retry_at, created_at)
    SELECT id, ${day}::date, now(), now() FROM organizations WHERE id = ${organizationId}
      AND NOT EXISTS (SELECT 1 FROM quarantine_records WHERE organization_id = ${organizationId} AND state = 'replaying')
    ON CONFLICT (organization_id, day) WHERE state <> 'done' DO NOTHING`;
}

/** Takes the turn to sweep for as long as the connection lives, or until `releaseLocks`. */
export function takeSweep(connection: ReservedSql): Promise<boolean> {
  return takeLock(connection, SWEEP_LOCK);
}

/** Takes the turn to delete what is archived, likewise. */
export function takeDeletion(connection: ReservedSql): Promise<boolean> {
  return takeLock(connection, DELETION_LOCK);
}

/**
 * A planned unit that is due and that no other instance works on; it is this one's for as long as the connection
 * lives, or until `releaseLocks`.
 */
export async function claimUnit(connection: ReservedSql): Promise<UnitKey | null> {
  const due = await connection<{ id: number }[]>`
    SELECT id FROM log_archive_units WHERE state = 'planned' AND retry_at <= now()
    ORDER BY day, id LIMIT ${CLAIM_LOOKS_AT}`;
  for (const { id } of due) {
    if (!(await takeLock(connection, id))) continue;
    // Somebody may have brought it further since it was listed.
    const [row] = await connection<UnitRow[]>`
      SELECT id, organization_id, to_char(day, 'YYYY-MM-DD') AS day
      FROM log_archive_units WHERE id = ${id} AND state = 'planned'`;
    if (row !== undefined) return { id, organizationId: row.organization_id, day: row.day };
  }
  return null;
}

/** Committed units that are due, the oldest first, of together at most so many entries, or one of more. */
export async function listCommitted(sql: Sql, maxRows: number): Promise<CommittedUnit[]> {
  const rows = await sql<CommittedRow[]>`
    SELECT * FROM (
      SELECT id, organization_id, to_char(day, 'YYYY-MM-DD') AS day, attempt, file, rows, bytes, checksum, min_ts, max_ts,
             sum(rows) OVER (ORDER BY id) - rows AS rows_before
      FROM log_archive_units WHERE state = 'committed' AND retry_at <= now()
    ) due
    WHERE rows_before = 0 OR rows_before + rows <= ${maxRows} ORDER BY id LIMIT ${DELETION_MAX_UNITS}`;
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    day: row.day,
    attempt: Number(row.attempt),
    facts: {
      file: row.file,
      rows: Number(row.rows),
      bytes: Number(row.bytes),
      checksum: row.checksum,
      minTs: BigInt(row.min_ts),
      maxTs: BigInt(row.max_ts),
    },
  }));
}

export async function releaseLocks(connection: ReservedSql): Promise<void> {
  await connection`SELECT pg_advisory_unlock_all()`;
}

async function takeLock(connection: ReservedSql, key: number): Promise<boolean> {
  const [lock] = await connection<{ taken: boolean }[]>`
    SELECT pg_try_advisory_lock(${LOCK_CLASS}::integer, ${key}::integer) AS taken`;
  return lock?.taken === true;
}

interface UnitRow {
  id: number;
  organization_id: number;
  day: string;
}

interface CommittedRow extends UnitRow {
  attempt: string;
  file: string;
  rows: string;
  bytes: string;
  checksum: string;
  min_ts: string;
  max_ts: string;
}

/** Makes the attempt the one that counts; false when the unit is no longer planned. */
export async function countAttempt(sql: Sql, unitId: number, attempt: number): Promise<boolean> {
  const changed = await sql`
    UPDATE log_archive_units SET attempt = ${attempt} WHERE id = ${unitId} AND state = 'planned'`;
  return changed.count === 1;
}

/** From here on searches of the archive read the file. False when another attempt counts by now: this one is void. */
export async function commitUnit(
  sql: Sql,
  { id, organizationId }: UnitKey,
  attempt: number,
  { file, rows, bytes, checksum, minTs, maxTs }: FileFacts,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    // So that places are given in the order in which they become visible.
    await tx`SELECT 1 FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`;
    const changed = await tx`
      UPDATE log_archive_units
      SET state = 'committed', file = ${file}, rows = ${rows}, bytes = ${bytes}, checksum = ${checksum},
          min_ts = ${String(minTs)}, max_ts = ${String(maxTs)}, failures = 0,
          seq = (SELECT coalesce(max(seq), 0) + 1 FROM log_archive_units WHERE organization_id = ${organizationId})
      WHERE id = ${id} AND attempt = ${attempt} AND state = 'planned'`;
    return changed.count === 1;
  });
}

/** Takes the file back from the archive: the log store, which has everything, is searched alone again. */
export async function replanUnit(sql: Sql, { id }: UnitKey, attempt: number): Promise<void> {
  await sql`
    UPDATE log_archive_units SET state = 'planned', attempt = NULL, seq = NULL
    WHERE id = ${id} AND attempt = ${attempt} AND state = 'committed'`;
}

export async function finishUnit(sql: Sql, { id }: UnitKey): Promise<void> {
  await sql`
    UPDATE log_archive_units SET state = 'done', failures = 0, done_at = now()
    WHERE id = ${id} AND state = 'committed'`;
}

/** Takes back a plan of which nothing was found to do. */
export async function withdrawUnit(sql: Sql, { id }: UnitKey, attempt: number): Promise<void> {
  await sql`DELETE FROM log_archive_units WHERE id = ${id} AND attempt = ${attempt} AND state = 'planned'`;
}

/** Puts a unit off, the longer the more often it has failed. */
export async function postponeUnit(sql: Sql, { id }: UnitKey): Promise<void> {
  await sql`
    UPDATE log_archive_units
    SET retry_at = now()
          + least(${RETRY_MAX_MS}::double precision, ${RETRY_BASE_MS} * power(2, least(failures, 20))) * interval '1 millisecond',
        failures = least(failures + 1, 1000)
    WHERE id = ${id} AND state <> 'done'`;
}

/** How much is not done, and how often what fails most has failed. */
export async function measureOpenUnits(sql: Sql): Promise<{ open: number; failures: number }> {
  const [row] = await sql<{ open: string; failures: number | null }[]>`
    SELECT count(*) AS open, max(failures) AS failures FROM log_archive_units WHERE state <> 'done'`;
  return { open: Number(row?.open ?? 0), failures: row?.failures ?? 0 };
}
