import type { BucketSum, TimeSpan } from "../evaluation/bucket-sums.ts";
import { readRows } from "../seal/read-rows.ts";
import type { SignalTable } from "../seal/signal-store.ts";
import { ROWS_MAX_READ } from "./limits.ts";

/** What a counter has in a span of time, and how far every stream is sealed in it: both of one moment. */
export interface SumsReading {
  /** By the names of groups. */
  readonly groups: ReadonlyMap<string, readonly BucketSum[]>;
  readonly sealed: ReadonlyMap<number, bigint>;
  /** There are more groups than were read: those with most entries were. */
  readonly isCut: boolean;
  /** The most groups that there were at once, where there were more than are told apart; else 0. */
  readonly groupsAtOnce: number;
}

/** The buckets of one counter that begin in the span, of groups with at least so many entries in it. */
export async function readSums(
  { endpoint }: SignalTable,
  counter: { readonly organizationId: number; readonly id: number },
  { fromMs, toMs }: TimeSpan,
  leastEntries: number,
  signal: AbortSignal,
): Promise<SumsReading> {
  // One statement over one table sees the parts of one moment: a seal is in both answers or in none.
  const rows = await readRows(
    endpoint,
    `SELECT what, place, name, entries, first_at, last_at, through, at_once FROM (
       SELECT toString(kind) AS what, group_hash, any(label) AS name, sum(n) AS entries,
              if(kind = 'seal', toInt64(key), toUnixTimestamp64Milli(toDateTime64(bucket, 3))) AS place,
              min(first_ms) AS first_at, max(last_ms) AS last_at, toString(max(last_id)) AS through,
              max(value_hash) AS at_once,
              sum(entries) OVER (PARTITION BY kind, group_hash) AS total
       FROM signals
       WHERE (organization_id = 0 AND kind = 'seal')
          OR (organization_id = {organization: UInt32} AND kind = 'count' AND key = {key: UInt64}
              AND bucket >= fromUnixTimestamp64Milli({from: Int64}) AND bucket < fromUnixTimestamp64Milli({to: Int64}))
       GROUP BY kind, group_hash, place)
     WHERE what = 'seal' OR total >= {least: UInt64} OR at_once > 0
     ORDER BY what = 'seal' DESC, total DESC, group_hash, place LIMIT {limit: UInt64}`,
    {
      organization: String(counter.organizationId),
      key: String(counter.id),
      from: String(fromMs),
      to: String(toMs),
      least: String(leastEntries),
      limit: String(ROWS_MAX_READ),
    },
    signal,
  );
  const groups = new Map<string, BucketSum[]>();
  const sealed = new Map<number, bigint>();
  let groupsAtOnce = 0;
  for (const [kind, place, label, n, firstMs, lastMs, lastId, atOnce] of rows) {
    if (kind === "seal") {
      sealed.set(Number(place), BigInt(String(lastId)));
      continue;
    }
    const name = String(label);
    groupsAtOnce = Math.max(groupsAtOnce, Number(atOnce));
    const sums = groups.get(name) ?? [];
    sums.push({ startMs: Number(place), n: Number(n), firstMs: Number(firstMs), lastMs: Number(lastMs) });
    groups.set(name, sums);
  }
  return { groups, sealed, groupsAtOnce, isCut: rows.length === ROWS_MAX_READ };
}
