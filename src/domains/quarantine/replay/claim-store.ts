import type { Fragment, ISql, Sql, TransactionSql } from "postgres";
import { heldBy } from "../../../jobs/claims/leased-rows.ts";
import { fromNow } from "../../../storage/database-clock.ts";
import { lowerUsage, matching, type RecordFilter } from "../record-store.ts";

/**
 * The queries that take records from one state to the next. A claim lasts as long as the write-ahead log it names and not
 * for a time, so there is no lease here; who has lost one is told as everywhere.
 */

/** A record with everything that a replay needs. */
export interface ClaimedRecord {
  readonly id: number;
  readonly entryKey: string;
  readonly format: string;
  readonly sourceKey: string | null;
  readonly raw: Uint8Array;
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
}

interface ClaimedRow {
  id: string;
  entry_key: string;
  format: string;
  source_key: string | null;
  raw: Uint8Array;
  received_at: Date;
}

/** Where a step goes on: behind `after`, up to and with `upTo`, taking so much at most. */
export interface StepRange {
  readonly after: number;
  readonly upTo: number;
  readonly maxRecords: number;
  readonly maxBytes: number;
}

/** Who takes records on: one step, which appends to one write-ahead log. */
interface ClaimName {
  readonly id: string;
  readonly log: string;
}

/** Takes held records on for a claim, in the order of their ids; passes over what another one is taking. */
export async function claimRecords(
  tx: TransactionSql,
  organizationId: number,
  filter: RecordFilter,
  range: StepRange,
  claim: ClaimName,
): Promise<ClaimedRecord[]> {
  const ids = await chooseRecords(tx, organizationId, filter, range, tx`FOR UPDATE SKIP LOCKED`);
  if (ids.length === 0) return [];
  const rows = await tx<ClaimedRow[]>`
    UPDATE quarantine_records
    SET state = 'replaying', claim_id = ${claim.id}, claim_log = ${claim.log}, claimed_at = now()
    WHERE organization_id = ${organizationId} AND id = ANY(${ids}::bigint[])
    RETURNING id, entry_key, format, source_key, raw, received_at`;
  return rows.map(claimedOf).sort((a, b) => a.id - b.id);
}

/** The same records, which stay as they are. */
export async function readRecords(
  tx: TransactionSql,
  organizationId: number,
  filter: RecordFilter,
  range: StepRange,
): Promise<ClaimedRecord[]> {
  const ids = await chooseRecords(tx, organizationId, filter, range, tx``);
  if (ids.length === 0) return [];
  const rows = await tx<ClaimedRow[]>`
    SELECT id, entry_key, format, source_key, raw, received_at FROM quarantine_records
    WHERE organization_id = ${organizationId} AND state = 'held' AND id = ANY(${ids}::bigint[])
    ORDER BY id`;
  return rows.map(claimedOf);
}

/** The ids of a step; one record is taken however large it is. */
async function chooseRecords(
  tx: TransactionSql,
  organizationId: number,
  filter: RecordFilter,
  { after, upTo, maxRecords, maxBytes }: StepRange,
  lock: ReturnType<TransactionSql>,
): Promise<string[]> {
  const rows = await tx<{ id: string; raw_bytes: number }[]>`
    SELECT id, raw_bytes FROM quarantine_records
    WHERE organization_id = ${organizationId} AND state = 'held' AND id > ${after} AND id <= ${upTo}
      AND ${matching(tx, filter)}
    ORDER BY id LIMIT ${maxRecords} ${lock}`;
  const ids: string[] = [];
  let bytes = 0;
  for (const { id, raw_bytes } of rows) {
    bytes += raw_bytes;
    if (ids.length > 0 && bytes > maxBytes) break;
    ids.push(id);
  }
  return ids;
}

function claimedOf(row: ClaimedRow): ClaimedRecord {
  return {
    id: Number(row.id),
    entryKey: row.entry_key,
    format: row.format,
    sourceKey: row.source_key,
    raw: row.raw,
    receivedAtMs: row.received_at.getTime(),
  };
}

/** The condition for records that are still the claim's. */
function claimed(sql: ISql, organizationId: number, claimId: string): Fragment {
  return heldBy(sql, "claim_id", { claim: claimId, key: { organization_id: organizationId } });
}

/** What became of the records of a claim. */
export interface ClaimOutcome {
  /** They are entries now. */
  readonly replayed: readonly number[];
  /** They stay, for this reason; null leaves the reason they had. */
  readonly held: readonly { readonly id: number; readonly reason: string | null }[];
}

/**
 * Ends a claim, or a part of it. Records that the claim does not have any more stay as they are. Answers how many became
 * replayed.
 */
export async function settleClaim(
  tx: TransactionSql,
  organizationId: number,
  claimId: string,
  { replayed, held }: ClaimOutcome,
): Promise<number> {
  const isClaimed = claimed(tx, organizationId, claimId);
  const freed = tx`claim_id = NULL, claim_log = NULL, claimed_at = NULL`;
  const ended = await tx<{ raw_bytes: number }[]>`
    UPDATE quarantine_records
    SET state = 'replayed', raw = '', replayed_at = now(), ${freed}
    WHERE ${isClaimed} AND id = ANY(${[...replayed]}::bigint[])
    RETURNING raw_bytes`;
  await tx`
    UPDATE quarantine_records AS record
    SET state = 'held', ${freed}, reason = coalesce(outcome.reason, record.reason)
    FROM unnest(${held.map(({ id }) => id)}::bigint[], ${held.map(({ reason }) => reason)}::text[]) AS outcome (id, reason)
    WHERE ${isClaimed} AND record.id = outcome.id`;
  const bytes = ended.reduce((sum, row) => sum + row.raw_bytes, 0);
  await lowerUsage(tx, organizationId, ended.length, bytes);
  return ended.length;
}

/** A claim that has not been ended. */
export interface OpenClaim {
  readonly id: string;
  readonly organizationId: number;
  readonly claimedAtMs: number;
}

interface OpenClaimRow {
  claim_id: string;
  organization_id: number;
  at: Date;
}

/** The claims whose steps append to this log, at most `limit`, oldest first; of all organisations. */
export async function findOpenClaims(sql: Sql, log: string, limit: number): Promise<OpenClaim[]> {
  const rows = await sql<OpenClaimRow[]>`
    SELECT claim_id, organization_id, min(claimed_at) AS at FROM quarantine_records
    WHERE state = 'replaying' AND claim_log = ${log}
    GROUP BY claim_id, organization_id ORDER BY min(claimed_at) LIMIT ${limit}`;
  return openClaims(rows);
}

/** An organisation's claims that are older than `ageMs` and whose steps append to other logs. */
export async function findForeignClaims(
  tx: TransactionSql,
  organizationId: number,
  log: string,
  ageMs: number,
  limit: number,
): Promise<OpenClaim[]> {
  const rows = await tx<OpenClaimRow[]>`
    SELECT claim_id, organization_id, min(claimed_at) AS at FROM quarantine_records
    WHERE organization_id = ${organizationId} AND state = 'replaying' AND claim_log <> ${log}
      AND claimed_at < ${fromNow(tx, -ageMs)}
    GROUP BY claim_id, organization_id ORDER BY min(claimed_at) LIMIT ${limit}`;
  return openClaims(rows);
}

function openClaims(rows: readonly OpenClaimRow[]): OpenClaim[] {
  return rows.map((row) => ({
    id: row.claim_id,
    organizationId: row.organization_id,
    claimedAtMs: row.at.getTime(),
  }));
}

/** The records of a claim. */
export async function recordsOfClaim(
  tx: TransactionSql,
  organizationId: number,
  claimId: string,
): Promise<{ id: number; entryKey: string }[]> {
  const rows = await tx<{ id: string; entry_key: string }[]>`
    SELECT id, entry_key FROM quarantine_records
    WHERE ${claimed(tx, organizationId, claimId)}`;
  return rows.map(({ id, entry_key }) => ({ id: Number(id), entryKey: entry_key }));
}

/** Records in the quarantines of all organisations. */
export async function countAllKept(sql: Sql): Promise<number> {
  const [row] = await sql<
    { records: string }[]
  >`SELECT coalesce(sum(records), 0) AS records FROM quarantine_usage`;
  return Number(row?.records ?? 0);
}
