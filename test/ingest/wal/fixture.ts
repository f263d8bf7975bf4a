import type { WalFailedError } from "../../../ingest/wal/errors.ts";
import { HEADER_BYTES, recordOf } from "../../../ingest/wal/format.ts";
import type { WalAppend, WalDamage, WalKeys, WalOptions, WalRecord } from "../../../ingest/wal/types.ts";
import { openWal, type Wal } from "../../../ingest/wal/wal.ts";
import type { MemoryDisk } from "./memory-disk.ts";

export const DIRECTORY = "/wal";
export const SEGMENT_BYTES = 4096;
export const START_MS = 1_700_000_000_000;

/** An open log on a disk in memory, with what it reported. */
interface OpenedWal {
  readonly wal: Wal;
  readonly fatal: WalFailedError[];
  readonly damage: WalDamage[];
}

export async function openOn(disk: MemoryDisk, options: Partial<WalOptions> = {}): Promise<OpenedWal> {
  const fatal: WalFailedError[] = [];
  const damage: WalDamage[] = [];
  const wal = await openWal({
    directory: DIRECTORY,
    io: disk.mount(),
    maxBytes: 64 * SEGMENT_BYTES,
    segmentBytes: SEGMENT_BYTES,
    keyRetentionMs: 60_000,
    clock: () => START_MS,
    onFatal: (error) => fatal.push(error),
    onDamage: (each) => damage.push(each),
    ...options,
  });
  return { wal, fatal, damage };
}

/** A record whose contents follow from `id`: `bytes` of block and `keys` keys. */
export function appendOf(id: number, bytes = 100, keys = 0, receivedAtMs = START_MS): WalAppend {
  const block = new Uint8Array(bytes);
  for (let i = 0; i < bytes; i++) block[i] = (id * 31 + i * 7) & 0xff;
  return recordOf({ rows: id + 1, receivedAtMs, block, keys: keysOf(id, keys) });
}

export function keysOf(id: number, count: number): Uint8Array {
  const keys = new Uint8Array(count * 16);
  const view = new DataView(keys.buffer);
  for (let i = 0; i < count; i++) {
    view.setUint32(i * 16, id, true);
    view.setUint32(i * 16 + 4, i, true);
  }
  return keys;
}

/** The id a record was made from; throws unless every byte of it is as `appendOf` made it. */
export function idOf(record: WalRecord): number {
  const id = record.rows - 1;
  const made = appendOf(id, record.block.length, record.keys.length / 16);
  const contents = made.bytes.subarray(HEADER_BYTES, HEADER_BYTES + made.keyBytes + made.blockBytes);
  if (Buffer.compare(contents, Buffer.concat([record.keys, record.block])) !== 0)
    throw new Error(`keys or block of ${id} differ`);
  return id;
}

export async function readAll(wal: Wal, from = wal.ledger.flushedThrough): Promise<WalRecord[]> {
  const records: WalRecord[] = [];
  for (let at = from; ; ) {
    const batch = await wal.read(at, { maxBytes: 1000, maxRecords: 10 });
    records.push(...batch.records);
    if (batch.end === at) return records;
    at = batch.end;
  }
}

export async function idsIn(wal: Wal, from?: number): Promise<number[]> {
  return (await readAll(wal, from)).map(idOf);
}

export async function recoveredKeysOf(wal: Wal): Promise<WalKeys[]> {
  const keys: WalKeys[] = [];
  for await (const each of wal.recoveredKeys()) keys.push(each);
  return keys;
}

/** Declares everything durable flushed and releases it. */
export async function flushAll(wal: Wal): Promise<void> {
  const end = wal.durableEnd;
  await wal.ledger.setIntent(end);
  await wal.ledger.setFlushed(end);
  await wal.release(end);
}

/** Pseudo-random bits from a seed, so that a failure can be replayed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
