import type { TransactionSql } from "postgres";
import type { TimeRange } from "../../../../query/index.ts";

/** The queries of searches about the ledger of the archive; the organisation comes first. */

/** A file with entries of one organisation. */
export interface ArchivedFile {
  readonly name: string;
  readonly rows: number;
  /** Nanoseconds since 1970. */
  readonly minTs: bigint;
  readonly maxTs: bigint;
  /** Larger for what was archived later. */
  readonly seq: number;
}

const EARLIEST_NS = -(2n ** 63n);
const LATEST_NS = 2n ** 63n - 1n;

/** The files that can have entries of that time, those with the newest ones first. */
export async function listArchivedFiles(
  tx: TransactionSql,
  organizationId: number,
  { from, to }: TimeRange,
  limit: number,
): Promise<ArchivedFile[]> {
  const rows = await tx<{ file: string; rows: string; min_ts: string; max_ts: string; seq: number }[]>`
    SELECT file, rows, min_ts, max_ts, seq FROM log_archive_units
    WHERE organization_id = ${organizationId} AND state <> 'planned'
      AND max_ts >= ${String(clamped(from ?? EARLIEST_NS))}::bigint AND min_ts <= ${String(clamped(to ?? LATEST_NS))}::bigint
    ORDER BY max_ts DESC, id DESC LIMIT ${limit}`;
  return rows.map(({ file, rows: count, min_ts, max_ts, seq }) => ({
    name: file,
    rows: Number(count),
    minTs: BigInt(min_ts),
    maxTs: BigInt(max_ts),
    seq,
  }));
}

/** A time of a request, which can be any, as one of the ledger's. */
function clamped(ns: bigint): bigint {
  if (ns < EARLIEST_NS) return EARLIEST_NS;
  return ns > LATEST_NS ? LATEST_NS : ns;
}
