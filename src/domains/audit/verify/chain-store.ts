import type { TransactionSql } from "postgres";
import { type AuditTuple, type StoredRow, storedRowOf } from "../../../audit/audit-rows.ts";
import { GENESIS_HASH } from "../../../audit/chain.ts";

/** The queries of a verification; the organisation comes first in each. They trust no constraint of the tables. */

/** Where a chain ends, by its head and by its rows, at one moment. */
export interface ChainEnd {
  readonly headSeq: number;
  readonly headHash: Uint8Array;
  /** How far the anchors reach, by the head. */
  readonly anchoredSeq: number;
  /** 0 without rows. */
  readonly lastRowSeq: number;
}

export async function findChainEnd(tx: TransactionSql, organizationId: number): Promise<ChainEnd> {
  const [end] = await tx<{ seq: string; hash: Uint8Array; anchored_seq: string; last_row_seq: string }[]>`
    SELECT coalesce(h.seq, 0) AS seq, coalesce(h.hash, ${GENESIS_HASH}) AS hash,
           coalesce(h.anchored_seq, 0) AS anchored_seq,
           coalesce((SELECT max(seq) FROM audit_log WHERE organization_id = ${organizationId}), 0) AS last_row_seq
    FROM (VALUES (1)) AS always LEFT JOIN audit_heads h ON h.organization_id = ${organizationId}`;
  if (end === undefined) throw new Error("a query without a condition found nothing");
  return {
    headSeq: Number(end.seq),
    headHash: end.hash,
    anchoredSeq: Number(end.anchored_seq),
    lastRowSeq: Number(end.last_row_seq),
  };
}

/** Rows from a place on, itself included, in the order of the chain; null for all there are, whatever their place. */
export async function findRowsFrom(
  tx: TransactionSql,
  organizationId: number,
  seq: number | null,
  limit: number,
): Promise<StoredRow[]> {
  const tuples = await tx<AuditTuple[]>`
    SELECT * FROM audit_log
    WHERE organization_id = ${organizationId} ${seq === null ? tx`` : tx`AND seq >= ${seq}`}
    ORDER BY seq, id LIMIT ${limit}`;
  return tuples.map(storedRowOf);
}
