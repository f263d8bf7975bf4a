import type { ClickHouseClient } from "@clickhouse/client";
import { DependencyError } from "../../errors.ts";

/** The queries about anchors, which lie in ClickHouse; the organisation comes first in each. */

/** Where a chain ended at some time. */
export interface Anchor {
  readonly organizationId: number;
  readonly seq: number;
  readonly hash: Uint8Array;
}

/** Writes anchors down; resolves when they are on disk. Throws a retryable DependencyError. */
export function insertAnchors(
  clickhouse: ClickHouseClient,
  anchors: readonly Anchor[],
  atMs: number,
  signal: AbortSignal,
): Promise<void> {
  return asking(async () => {
    await clickhouse.insert({
      table: "audit_anchors",
      values: anchors.map(({ organizationId, seq, hash }) => ({
        organization_id: organizationId,
        seq,
        hash: Buffer.from(hash).toString("hex"),
        anchored_at: new Date(atMs).toISOString().replace("Z", ""),
      })),
      format: "JSONEachRow",
      abort_signal: signal,
    });
  });
}

/** The farthest place that was ever anchored; 0 for none. Throws a retryable DependencyError. */
export async function lastAnchoredSeq(
  clickhouse: ClickHouseClient,
  organizationId: number,
  signal: AbortSignal,
): Promise<number> {
  const [row] = await select<{ seq: string }>(clickhouse, signal, {
    query: "SELECT max(seq) AS seq FROM audit_anchors WHERE organization_id = {organizationId: UInt32}",
    query_params: { organizationId },
  });
  return Number(row?.seq ?? 0);
}

/**
 * What the anchors say about these places, both included: by place the hashes in hexadecimal, of which there is one
 * unless two anchors contradict each other. Throws a retryable DependencyError.
 */
export async function findAnchors(
  clickhouse: ClickHouseClient,
  organizationId: number,
  places: { lowest: number; highest: number },
  signal: AbortSignal,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const rows = await select<{ seq: string; hashes: string[] }>(clickhouse, signal, {
    query: `
      SELECT seq, groupUniqArray(2)(hash) AS hashes FROM audit_anchors
      WHERE organization_id = {organizationId: UInt32} AND seq BETWEEN {lowest: UInt64} AND {highest: UInt64}
      GROUP BY seq`,
    query_params: { organizationId, ...places },
  });
  return new Map(rows.map(({ seq, hashes }) => [Number(seq), hashes]));
}

function select<T>(
  clickhouse: ClickHouseClient,
  signal: AbortSignal,
  question: { query: string; query_params: Record<string, number> },
): Promise<T[]> {
  return asking(async () => {
    const result = await clickhouse.query({ ...question, format: "JSONEachRow", abort_signal: signal });
    return result.json<T>();
  });
}

async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new DependencyError("clickhouse", "the audit anchors are out of reach", {
      retryable: true,
      cause: error,
    });
  }
}
