import type { TransactionSql } from "postgres";
import { type AuditTuple, type StoredRow, storedRowOf } from "../../../audit/audit-rows.ts";
import { type AuditFilter, rowsMatching } from "./audit-filter.ts";

/** The queries that list rows; the organisation comes first in each. */

/** Places in the chain, both included. */
export interface Places {
  readonly lowest: number;
  readonly highest: number;
}

/**
 * Between which places everything lies that is there now and within the filter's times; null when nothing is. Rows are
 * read in the order of the chain, which is not quite that of time where the clocks of instances differ.
 */
export async function findPlaces(
  tx: TransactionSql,
  organizationId: number,
  { fromMs, toMs }: AuditFilter,
): Promise<Places | null> {
  const times = { action: null, actorUserId: null, tokenId: null, fromMs, toMs };
  const isBounded = fromMs !== null || toMs !== null;
  // With the count Postgres reads the index of times, and not all of the chain from its end on until a time suits.
  const [found] = await tx<{ lowest: string | null; highest: string | null }[]>`
    SELECT min(seq) AS lowest, max(seq) AS highest ${isBounded ? tx`, count(*)` : tx``} FROM audit_log
    WHERE ${rowsMatching(tx, organizationId, times)}`;
  if (found === undefined || found.lowest === null || found.highest === null) return null;
  return { lowest: Number(found.lowest), highest: Number(found.highest) };
}

/** Rows of these places, the newest first or the oldest. */
export async function findRows(
  tx: TransactionSql,
  organizationId: number,
  filter: AuditFilter,
  { lowest, highest }: Places,
  { newestFirst, limit }: { newestFirst: boolean; limit: number },
): Promise<StoredRow[]> {
  const tuples = await tx<AuditTuple[]>`
    SELECT * FROM audit_log
    WHERE ${rowsMatching(tx, organizationId, filter)} AND seq BETWEEN ${lowest} AND ${highest}
    ORDER BY seq ${newestFirst ? tx`DESC` : tx`ASC`} LIMIT ${limit}`;
  return tuples.map(storedRowOf);
}
