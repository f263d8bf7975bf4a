import type { ClickHouseClient } from "@clickhouse/client";
import type { Sql } from "postgres";
import { findAnchors, lastAnchoredSeq } from "../../../audit/anchors/anchor-store.ts";
import { readAudit, type StoredRow } from "../../../audit/audit-rows.ts";
import { ANCHOR_QUERY_TIMEOUT_MS, VERIFY_BATCH_ROWS } from "../../../audit/limits.ts";
import { patient } from "../../../concurrency/patience.ts";
import { type ChainEnd, findChainEnd, findRowsFrom } from "./chain-store.ts";
import { type AnchoredHashes, type ChainPosition, type ChainProblem, ChainWalk } from "./chain-walk.ts";

export interface ChainDependencies {
  readonly sql: Sql;
  readonly clickhouse: ClickHouseClient;
}

export interface ChainFinding {
  /** How far the chain was followed and is intact. */
  readonly position: ChainPosition;
  /** Whether nothing is left to be checked, for the end or a broken row was reached. */
  readonly isComplete: boolean;
  readonly problem: ChainProblem | null;
  /** The first row that does not fit. */
  readonly brokenId: number | null;
  readonly isTailMissing: boolean;
}

/**
 * Follows the chain of an organisation from `from`, where an earlier call came to, until its end, a broken row, or until
 * `isOver` says so after a batch. Throws DependencyError when either store does not answer.
 *
 * The chain may grow meanwhile. What reaches farther is therefore always read after what must not reach beyond it: the
 * head's note of its anchors, the anchors, the rows.
 */
export async function verifyChain(
  { sql, clickhouse }: ChainDependencies,
  organizationId: number,
  from: ChainPosition,
  isOver: () => boolean,
): Promise<ChainFinding> {
  const noted = await readAudit(sql, organizationId, (tx) => findChainEnd(tx, organizationId));
  const anchoredSeq = await lastAnchoredSeq(clickhouse, organizationId, patience());
  const end = await readAudit(sql, organizationId, (tx) => findChainEnd(tx, organizationId));
  const isTailMissing = Math.max(end.headSeq, anchoredSeq) > end.lastRowSeq;
  const walk = new ChainWalk(from);
  let isAtEnd = false;
  while (!isAtEnd && walk.broken === null) {
    const { seq } = walk.position;
    const [rows, anchors] = await Promise.all([
      readAudit(sql, organizationId, (tx) =>
        findRowsFrom(tx, organizationId, seq === 0 ? null : seq, VERIFY_BATCH_ROWS),
      ),
      findAnchors(clickhouse, organizationId, { lowest: seq, highest: seq + VERIFY_BATCH_ROWS }, patience()),
    ]);
    const isBeyondEnd = followRows(walk, rows, anchors, end);
    isAtEnd = isBeyondEnd || rows.length < VERIFY_BATCH_ROWS;
    if (!isAtEnd && walk.broken === null && isOver())
      return { position: walk.position, isComplete: false, problem: null, brokenId: null, isTailMissing };
  }
  const { position, broken } = walk;
  const problem =
    broken?.problem ??
    (isTailMissing ? "tail_missing" : endProblem(position, end, noted.anchoredSeq - anchoredSeq));
  return { position, isComplete: true, problem, brokenId: broken?.id ?? null, isTailMissing };
}

/**
 * Takes the walk along a batch and answers whether that ended beyond the end, at rows that were added since it was read
 * and are for the next verification. A batch begins with the row where the walk stands, so that nothing can hide
 * between two batches.
 */
function followRows(
  walk: ChainWalk,
  rows: readonly StoredRow[],
  anchors: AnchoredHashes,
  { headSeq, lastRowSeq }: ChainEnd,
): boolean {
  let isStanding = walk.position.seq > 0;
  for (const row of rows) {
    if (row.row.seq > headSeq && lastRowSeq <= headSeq) return true;
    if (isStanding) walk.stand(row);
    else if (row.row.seq > headSeq) walk.stop("row_unexpected", row);
    else walk.step(row, anchors);
    if (walk.broken !== null) return false;
    isStanding = false;
  }
  return false;
}

function endProblem(position: ChainPosition, end: ChainEnd, unanchoredSeqs: number): ChainProblem | null {
  if (unanchoredSeqs > 0) return "anchor_missing";
  if (position.seq !== end.headSeq || Buffer.compare(position.hash, end.headHash) !== 0)
    return "head_differs";
  return null;
}

function patience(): AbortSignal {
  return AbortSignal.timeout(patient(ANCHOR_QUERY_TIMEOUT_MS));
}
