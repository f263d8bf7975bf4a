import { piecesOf } from "../../concurrency/thread-turns.ts";
import type { ClickHouseEndpoint } from "../../storage/clickhouse.ts";
import { insertOnce } from "../../storage/insert-once.ts";
import { groupHash } from "../counters/groups.ts";
import { readRows } from "./read-rows.ts";

/** The statements about `signals`, which are written here and nowhere else. */

/** Of the body of an insert, what is put together at once. */
const PIECE_CHARS = 64 * 1024;
const encoder = new TextEncoder();

export interface SignalTable {
  readonly endpoint: ClickHouseEndpoint;
  /** Makes durable what the store itself leaves to the system. */
  readonly settle: () => Promise<void>;
}

/** A row of `signals`; see its migration. */
export interface Signal {
  readonly organizationId: number;
  readonly kind: "seal" | "count" | "past" | "hit" | "error" | "observable" | "edge" | "metric";
  /** What it is about, of its kind. */
  readonly key: number | bigint;
  /** Milliseconds since 1970. */
  readonly bucketMs: number;
  readonly n: number;
  readonly lastId: bigint;
  /** The name of the group, where it has any. */
  readonly group?: string;
  /**
   * What is told apart within a group and a bucket; 0 where nothing is. Of counts it is how many groups there were, where this one
   * stands for those that are not told apart.
   */
  readonly valueHash?: bigint;
  /** When the first and the last of the entries are. */
  readonly times?: { readonly firstMs: number; readonly lastMs: number } | null;
}

/**
 * Keeps the rows, all or none, once for each token as long as the store remembers it. Rejects when that is not certain; whoever
 * repeats it looks first whether they are there.
 */
export async function insertSignals(
  { endpoint, settle }: SignalTable,
  signals: readonly Signal[],
  token: string,
  day: string,
  signal: AbortSignal,
): Promise<void> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  // Of few pieces a body is made at once; of a hundred thousand lines it took the thread for 50 ms.
  for await (const piece of piecesOf(linesOf(signals, day), PIECE_CHARS)) pieces.push(encoder.encode(piece));
  // One insert is one part, since all its rows are of one day.
  await insertOnce(endpoint, { table: "signals", body: new Blob(pieces), token }, signal);
  await settle();
}

function* linesOf(signals: readonly Signal[], day: string): Generator<string, undefined> {
  for (const row of signals) yield lineOf(row, day);
}

/** A line of JSON; written by hand, for a seal has a hundred thousand of them and only the label has to be escaped. */
function lineOf({ group = "", valueHash = 0n, times = null, ...signal }: Signal, day: string): string {
  const { organizationId, kind, key, bucketMs, n, lastId } = signal;
  return `{"organization_id":${organizationId},"kind":"${kind}","key":${key},"group_hash":${groupHash(group)},"value_hash":${valueHash},"label":${JSON.stringify(group)},"first_ms":${times?.firstMs ?? 0},"last_ms":${times?.lastMs ?? 0},"bucket":"${storeTime(bucketMs)}","n":${n},"last_id":${lastId},"sealed_day":"${day}"}\n`;
}

function storeTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23).replace("T", " ");
}

/** Up to which id a stream is sealed as far as there were entries to count; null for not at all. */
export async function sealedThrough(
  { endpoint }: SignalTable,
  streamId: number,
  signal: AbortSignal,
): Promise<bigint | null> {
  const [row] = await readRows(
    endpoint,
    `SELECT toString(max(last_id)) FROM signals
     WHERE organization_id = 0 AND kind = 'seal' AND key = {key: UInt64} HAVING count() > 0`,
    { key: String(streamId) },
    signal,
  );
  return row === undefined ? null : BigInt(String(row[0]));
}

/** The number of the wider bucket since 1970. */
const BUCKET =
  "toInt64(floor(intDiv(toUnixTimestamp64Milli(toDateTime64(bucket, 3)), 1000) / {width: Int64}))";

/** What is counted of a counter, and how far every stream is sealed in it: both of one moment. */
interface CounterReading {
  /** Counts by the number of the wider bucket that they fall into. */
  readonly counts: ReadonlyMap<number, number>;
  readonly sealed: ReadonlyMap<number, bigint>;
}

/** Of one counter in buckets of so many seconds from the one that begins at `fromMs` to before `toMs`. */
export async function readCounter(
  { endpoint }: SignalTable,
  counter: { readonly organizationId: number; readonly id: number },
  { fromMs, toMs, bucketSec }: { fromMs: number; toMs: number; bucketSec: number },
  signal: AbortSignal,
): Promise<CounterReading> {
  // One statement over one table sees the parts of one moment: a seal is in both answers or in none.
  const rows = await readRows(
    endpoint,
    `SELECT toString(kind), if(kind = 'seal', toInt64(key), ${BUCKET}) AS place,
            sum(n), toString(max(last_id))
     FROM signals
     WHERE (organization_id = 0 AND kind = 'seal')
        OR (organization_id = {organization: UInt32} AND kind = 'count' AND key = {key: UInt64}
            AND bucket >= fromUnixTimestamp64Milli({from: Int64}) AND bucket < fromUnixTimestamp64Milli({to: Int64}))
     GROUP BY kind, place`,
    {
      organization: String(counter.organizationId),
      key: String(counter.id),
      from: String(fromMs),
      to: String(toMs),
      width: String(bucketSec),
    },
    signal,
  );
  const counts = new Map<number, number>();
  const sealed = new Map<number, bigint>();
  for (const [kind, place, n, lastId] of rows)
    if (kind === "seal") sealed.set(Number(place), BigInt(String(lastId)));
    else counts.set(Number(place), Number(n));
  return { counts, sealed };
}

/** Up to which time, exclusive, the past of a counter is counted; null for not at all. */
export async function pastThrough(
  { endpoint }: SignalTable,
  counter: { readonly organizationId: number; readonly id: number },
  signal: AbortSignal,
): Promise<number | null> {
  const [row] = await readRows(
    endpoint,
    `SELECT toUnixTimestamp64Milli(toDateTime64(max(bucket), 3)) FROM signals
     WHERE organization_id = {organization: UInt32} AND kind = 'past' AND key = {key: UInt64} HAVING count() > 0`,
    { organization: String(counter.organizationId), key: String(counter.id) },
    signal,
  );
  return row === undefined ? null : Number(row[0]);
}
