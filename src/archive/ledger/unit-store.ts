import type { Fragment, ISql, Sql } from "postgres";
import type { Claimant } from "../../jobs/claims/claimant.ts";
import type { Claim } from "../../jobs/claims/leased-rows.ts";
import { WorkQueue } from "../../jobs/claims/work-queue.ts";
import { DELETION_MAX_ROWS, DELETION_MAX_UNITS, UNIT_LEASE_MS, UNIT_MAX_ROWS } from "../limits.ts";

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

/** A unit that one instance works on. */
export interface ClaimedUnit extends UnitKey, Claim {
  /** How often it was tried since it last came on, this time included. */
  readonly attempts: number;
}

/** A unit whose entries the archive has, and the log store perhaps as well. */
export interface CommittedUnit extends ClaimedUnit {
  readonly attempt: number;
  readonly facts: FileFacts;
}

export const UNITS = new WorkQueue({
  table: "log_archive_units",
  key: "id",
  claim: "claim_id",
  due: "retry_at",
  attempts: "attempts",
});

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

/** A planned unit that is due and that no other instance works on. */
export async function claimPlanned(sql: Sql, claimant: Claimant): Promise<ClaimedUnit | null> {
  const which = { where: sql`state = 'planned'`, order: sql`day, id`, columns: unitColumns(sql) };
  const [row] = await claimNext<UnitRow>(sql, which, claimant.next());
  return row === undefined ? null : claimedOf(row);
}

/** Committed units that are due, the oldest first, all under one claim; of as many entries as are deleted at once. */
export async function claimCommitted(sql: Sql, claimant: Claimant): Promise<CommittedUnit[]> {
  const claim = claimant.next();
  const taking = {
    where: sql`state = 'committed'`,
    order: sql`id`,
    columns: sql`${unitColumns(sql)}, attempt, file, rows, bytes, checksum, min_ts, max_ts`,
  };
  const units: CommittedUnit[] = [];
  for (let rows = 0; units.length < DELETION_MAX_UNITS && rows + UNIT_MAX_ROWS <= DELETION_MAX_ROWS; ) {
    const [row] = await claimNext<CommittedRow>(sql, taking, claim);
    if (row === undefined) break;
    const unit = committedOf(row);
    units.push(unit);
    rows += unit.facts.rows;
  }
  return units;
}

/** Frees units that this server had when it died; see `WorkQueue.takeBack`. */
export async function takeUnitsBack(sql: Sql, claimant: Claimant): Promise<void> {
  await UNITS.takeBack(sql, claimant, sql`state <> 'done'`);
}

function unitColumns(sql: Sql): Fragment {
  return sql`id, organization_id, to_char(day, 'YYYY-MM-DD') AS day, attempts`;
}

function claimNext<Row extends object>(
  sql: Sql,
  which: { where: Fragment; order: Fragment; columns: Fragment },
  claim: string,
): Promise<(Row & { readonly claim: string })[]> {
  return UNITS.take<Row>(sql, { ...which, max: 1, leaseMs: UNIT_LEASE_MS }, claim);
}

interface UnitRow {
  id: number;
  organization_id: number;
  day: string;
  attempts: number;
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

function claimedOf({ id, claim, organization_id, day, attempts }: UnitRow & { claim: string }): ClaimedUnit {
  return { id, claim, key: { id }, organizationId: organization_id, day, attempts };
}

function committedOf(row: CommittedRow & { claim: string }): CommittedUnit {
  return {
    ...claimedOf(row),
    attempt: Number(row.attempt),
    facts: {
      file: row.file,
      rows: Number(row.rows),
      bytes: Number(row.bytes),
      checksum: row.checksum,
      minTs: BigInt(row.min_ts),
      maxTs: BigInt(row.max_ts),
    },
  };
}

/** Makes the attempt the one that counts; false when the unit is no longer the claim's. */
export async function countAttempt(sql: Sql, unit: ClaimedUnit, attempt: number): Promise<boolean> {
  const changed = await sql`UPDATE log_archive_units SET attempt = ${attempt} WHERE ${UNITS.held(sql, unit)}`;
  return changed.count === 1;
}

/**
 * From here on searches of the archive read the file, and whoever deletes next has the unit. False when it is another
 * instance's by now: this attempt is void.
 */
export async function commitUnit(
  sql: Sql,
  unit: ClaimedUnit,
  { file, rows, bytes, checksum, minTs, maxTs }: FileFacts,
): Promise<boolean> {
  const { organizationId } = unit;
  return sql.begin(async (tx) => {
    // So that places are given in the order in which they become visible.
    await tx`SELECT 1 FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`;
    const changed = await tx`
      UPDATE log_archive_units
      SET state = 'committed', file = ${file}, rows = ${rows}, bytes = ${bytes}, checksum = ${checksum},
          min_ts = ${String(minTs)}, max_ts = ${String(maxTs)}, ${cameOn(tx)},
          seq = (SELECT coalesce(max(seq), 0) + 1 FROM log_archive_units WHERE organization_id = ${organizationId})
      WHERE ${UNITS.held(tx, unit)}`;
    return changed.count === 1;
  });
}

/** The unit is free, and due at once for what comes next. */
function cameOn(sql: ISql): Fragment {
  return sql`${UNITS.freed(sql)}, retry_at = now(), attempts = 0`;
}

/** Takes the file back from the archive: the log store, which has everything, is searched alone again. */
export async function replanUnit(sql: Sql, unit: CommittedUnit): Promise<void> {
  await sql`
    UPDATE log_archive_units SET state = 'planned', attempt = NULL, seq = NULL WHERE ${UNITS.held(sql, unit)}`;
}

/** False when it is another instance's by now, which finishes it. */
export async function finishUnit(sql: Sql, unit: CommittedUnit): Promise<boolean> {
  const { count } = await sql`
    UPDATE log_archive_units SET state = 'done', ${cameOn(sql)}, done_at = now() WHERE ${UNITS.held(sql, unit)}`;
  return count === 1;
}

/** How much is not done, and of how much an attempt has failed. */
export async function measureOpenUnits(sql: Sql): Promise<{ open: number; failing: number }> {
  const [row] = await sql<{ open: string; failing: string }[]>`
    SELECT count(*) AS open, count(*) FILTER (WHERE attempts > (claim_id IS NOT NULL)::integer) AS failing
    FROM log_archive_units WHERE state <> 'done'`;
  return { open: Number(row?.open ?? 0), failing: Number(row?.failing ?? 0) };
}
