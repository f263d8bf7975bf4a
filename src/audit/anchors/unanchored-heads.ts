import type { Sql, TransactionSql } from "postgres";
import { ANCHOR_LAG_MAX_HEADS } from "../limits.ts";
import type { Anchor } from "./anchor-store.ts";

/** The queries about heads that ClickHouse does not know yet. They concern all organisations and lock none of them. */

/** The lock whose holder anchors: the bytes of "obs_anch" as a number. */
const ADVISORY_LOCK_KEY = "8026104339421356904";

/**
 * Takes the turn to anchor until the transaction ends; false when another instance has it. Locks on the heads
 * themselves would hold up changes while ClickHouse answers, and skipping locked ones would skip the busiest.
 */
export async function takeTurn(tx: TransactionSql): Promise<boolean> {
  const [turn] = await tx<{ taken: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCK_KEY}::bigint) AS taken`;
  return turn?.taken === true;
}

/** Unanchored heads by the ids of their organisations, from the first id beyond `afterId` on. */
export async function findUnanchoredHeads(sql: Sql, afterId: number, limit: number): Promise<Anchor[]> {
  const rows = await sql<{ organization_id: number; seq: string; hash: Uint8Array }[]>`
    SELECT organization_id, seq, hash FROM audit_heads
    WHERE anchored_seq < seq AND organization_id > ${afterId}
    ORDER BY organization_id LIMIT ${limit}`;
  return rows.map(({ organization_id, seq, hash }) => ({
    organizationId: organization_id,
    seq: Number(seq),
    hash,
  }));
}

/** Notes on a head that it is anchored. One head a statement: whoever holds several locks can be in a deadlock. */
export async function noteAnchored(sql: Sql, { organizationId, seq }: Anchor): Promise<void> {
  await sql`
    UPDATE audit_heads SET anchored_seq = ${seq} WHERE organization_id = ${organizationId} AND anchored_seq < ${seq}`;
}

/** When the oldest row was made that no anchor vouches for, of so many organisations; null when there is none. */
export async function oldestUnanchoredMs(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ oldest: Date | null }[]>`
    SELECT min(l.created_at) AS oldest
    FROM (
      SELECT organization_id, anchored_seq FROM audit_heads WHERE anchored_seq < seq LIMIT ${ANCHOR_LAG_MAX_HEADS}
    ) h
    JOIN audit_log l ON l.organization_id = h.organization_id AND l.seq = h.anchored_seq + 1`;
  return row?.oldest?.getTime() ?? null;
}
