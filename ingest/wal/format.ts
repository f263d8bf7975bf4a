import { crc32, hash64 } from "./checksum.ts";
import { APPEND_BYTES_MAX, RECORD_BYTES_MAX } from "./limits.ts";
import type { WalAppend, WalRange } from "./types.ts";
import { getUint53, setUint53 } from "./uint53.ts";

/*
 * A record: a header of 64 bytes, then the payload (keys, block, zeros up to a multiple of 8). Little-endian.
 *
 *    0  u32  magic "OBW1"               32  u64  XXH3 of the payload
 *    4  u32  rows                       40  u32  CRC-32 of the payload
 *    8  u64  position of the record     44  u32  bytes of keys
 *   16  u64  identity of the log        48  u32  bytes of the block
 *   24  u64  received, epoch ms         52  u32  bytes before this record that were not yet synced when it was written
 *                                       56  u32  bytes of its append behind this record, plus 1; zero for one by itself
 *                                       60  u32  CRC-32 of bytes 0..59
 */
const MAGIC = 0x3157424f;
const AT_ROWS = 4;
const AT_POSITION = 8;
const AT_IDENTITY = 16;
const AT_RECEIVED = 24;
const AT_PAYLOAD_HASH = 32;
const AT_PAYLOAD_CRC = 40;
const AT_KEY_BYTES = 44;
const AT_BLOCK_BYTES = 48;
const AT_UNSYNCED = 52;
const AT_BEHIND = 56;
export const AT_HEADER_CRC = 60;

export const HEADER_BYTES = 64;
export const KEY_BYTES = 16;
/** Records start at multiples of this, so that a search for the next header need not look at every byte. */
export const ALIGNMENT = 8;

export interface RecordHeader {
  readonly start: number;
  readonly end: number;
  readonly identity: bigint;
  readonly rows: number;
  readonly receivedAtMs: number;
  readonly keyBytes: number;
  readonly blockBytes: number;
  readonly payloadCrc: number;
  readonly payloadHash: bigint;
  /** Everything below this position was durable when the record was written. */
  readonly durableBefore: number;
  /** The records that were appended together with it, itself included. */
  readonly append: WalRange;
}

/**
 * What the log stores: entries, with at least one row, or without rows either the keys kept from a released segment or
 * a void, zeros in place of torn bytes.
 */
export interface RecordBody {
  readonly rows: number;
  /** Milliseconds since the epoch. */
  readonly receivedAtMs: number;
  readonly keys: Uint8Array;
  readonly block: Uint8Array;
}

export function alignUp(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** Bytes of a record with so many of keys and block. */
export function recordBytes(keyBytes: number, blockBytes: number): number {
  return alignUp(HEADER_BYTES + keyBytes + blockBytes);
}

/** A record with these contents, for an append: a copy. */
export function recordOf({ rows, receivedAtMs, keys, block }: RecordBody): WalAppend {
  const bytes = new Uint8Array(recordBytes(keys.length, block.length));
  bytes.set(keys, HEADER_BYTES);
  bytes.set(block, HEADER_BYTES + keys.length);
  return { rows, receivedAtMs, bytes, keyBytes: keys.length, blockBytes: block.length };
}

/** What is known of a record only when it is written. */
interface RecordStamp {
  readonly position: number;
  readonly identity: bigint;
  readonly durableBefore: number;
  /** Bytes of the other records of its append that follow it; null for one that was appended by itself. */
  readonly behind: number | null;
}

/** Writes the header of a record, whose keys, block and padding are in place. */
export function sealRecord(
  record: WalAppend,
  { position, identity, durableBefore, behind }: RecordStamp,
): void {
  const { bytes, rows, receivedAtMs, keyBytes, blockBytes } = record;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const payload = bytes.subarray(HEADER_BYTES);
  view.setUint32(0, MAGIC, true);
  view.setUint32(AT_ROWS, rows, true);
  setUint53(view, AT_POSITION, position);
  view.setBigUint64(AT_IDENTITY, identity, true);
  setUint53(view, AT_RECEIVED, receivedAtMs);
  view.setBigUint64(AT_PAYLOAD_HASH, hash64(payload), true);
  view.setUint32(AT_PAYLOAD_CRC, crc32(payload), true);
  view.setUint32(AT_KEY_BYTES, keyBytes, true);
  view.setUint32(AT_BLOCK_BYTES, blockBytes, true);
  view.setUint32(AT_UNSYNCED, position - durableBefore, true);
  view.setUint32(AT_BEHIND, behind === null ? 0 : behind + 1, true);
  view.setUint32(AT_HEADER_CRC, crc32(headerBody(view, 0)), true);
}

/** A record of `size` bytes, at least `HEADER_BYTES`, that means nothing. */
export function encodeVoid(size: number, stamp: Omit<RecordStamp, "behind">): Uint8Array {
  const block = new Uint8Array(size - HEADER_BYTES);
  const record = recordOf({ rows: 0, receivedAtMs: 0, keys: new Uint8Array(0), block });
  sealRecord(record, { ...stamp, behind: null });
  return record.bytes;
}

/** The bytes of a header that its CRC covers. */
export function headerBody(view: DataView, offset: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + offset, AT_HEADER_CRC);
}

export function hasMagic(view: DataView, offset: number): boolean {
  return view.getUint32(offset, true) === MAGIC;
}

/** The header at `offset`, of which 64 bytes must be there; undefined unless checksum and every field are sound. */
export function decodeHeader(view: DataView, offset: number): RecordHeader | undefined {
  if (!hasMagic(view, offset)) return undefined;
  if (crc32(headerBody(view, offset)) !== view.getUint32(offset + AT_HEADER_CRC, true)) return undefined;
  const start = getUint53(view, offset + AT_POSITION);
  const receivedAtMs = getUint53(view, offset + AT_RECEIVED);
  if (start === undefined || start % ALIGNMENT !== 0 || receivedAtMs === undefined) return undefined;
  const keyBytes = view.getUint32(offset + AT_KEY_BYTES, true);
  const blockBytes = view.getUint32(offset + AT_BLOCK_BYTES, true);
  const size = alignUp(HEADER_BYTES + keyBytes + blockBytes);
  if (keyBytes % KEY_BYTES !== 0 || size > RECORD_BYTES_MAX) return undefined;
  const unsynced = view.getUint32(offset + AT_UNSYNCED, true);
  const behind = view.getUint32(offset + AT_BEHIND, true);
  if (unsynced > start || behind > APPEND_BYTES_MAX || behind % ALIGNMENT > 1) return undefined;
  const end = start + size;
  const durableBefore = start - unsynced;
  return {
    start,
    end,
    identity: view.getBigUint64(offset + AT_IDENTITY, true),
    rows: view.getUint32(offset + AT_ROWS, true),
    receivedAtMs,
    keyBytes,
    blockBytes,
    payloadCrc: view.getUint32(offset + AT_PAYLOAD_CRC, true),
    payloadHash: view.getBigUint64(offset + AT_PAYLOAD_HASH, true),
    durableBefore,
    // Records that were appended together are a group of their own: nothing else was written since what was durable.
    append: behind === 0 ? { start, end } : { start: durableBefore, end: end + behind - 1 },
  };
}
