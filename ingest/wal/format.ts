import { crc32, hash64 } from "./checksum.ts";
import { RECORD_BYTES_MAX } from "./limits.ts";
import type { WalAppend } from "./types.ts";
import { getUint53, setUint53 } from "./uint53.ts";

/*
 * A record: a header of 64 bytes, then the payload (keys, block, zeros up to a multiple of 8). Little-endian.
 *
 *    0  u32  magic "OBW1"               32  u64  XXH3 of the payload
 *    4  u32  rows                       40  u32  CRC-32 of the payload
 *    8  u64  position of the record     44  u32  bytes of keys
 *   16  u64  identity of the log        48  u32  bytes of the block
 *   24  u64  received, epoch ms         52  u32  bytes before this record that were not yet synced when it was written
 *                                       56  u32  zero
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
const AT_ZERO = 56;
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
}

/**
 * What the log stores: an append, with at least one row, or without rows either the keys kept from a released segment or
 * a void, zeros in place of torn bytes.
 */
export type RecordBody = Pick<WalAppend, "rows" | "receivedAtMs" | "block" | "keys">;

export function alignUp(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** Bytes of a record with these contents. */
export function recordBytes(body: RecordBody): number {
  let bytes = HEADER_BYTES + body.keys.length;
  for (const part of body.block) bytes += part.length;
  return alignUp(bytes);
}

/**
 * Writes everything of a record that does not depend on its position. `size` is `recordBytes(body)`; the record is
 * unreadable until `stampRecord` completes the header.
 */
export function encodeRecord(view: DataView, offset: number, size: number, body: RecordBody): void {
  const bytes = new Uint8Array(view.buffer, view.byteOffset + offset, size);
  bytes.set(body.keys, HEADER_BYTES);
  const blockStart = HEADER_BYTES + body.keys.length;
  let at = blockStart;
  for (const part of body.block) {
    bytes.set(part, at);
    at += part.length;
  }
  bytes.fill(0, at);
  const payload = bytes.subarray(HEADER_BYTES);
  view.setUint32(offset, MAGIC, true);
  view.setUint32(offset + AT_ROWS, body.rows, true);
  setUint53(view, offset + AT_RECEIVED, body.receivedAtMs);
  view.setBigUint64(offset + AT_PAYLOAD_HASH, hash64(payload), true);
  view.setUint32(offset + AT_PAYLOAD_CRC, crc32(payload), true);
  view.setUint32(offset + AT_KEY_BYTES, body.keys.length, true);
  view.setUint32(offset + AT_BLOCK_BYTES, at - blockStart, true);
  view.setUint32(offset + AT_ZERO, 0, true);
}

/** What is known of a record only when it is written. */
interface RecordStamp {
  readonly position: number;
  readonly identity: bigint;
  readonly durableBefore: number;
}

/** Completes the header of an encoded record, now that its position is known. */
export function stampRecord(view: DataView, offset: number, stamp: RecordStamp): void {
  setUint53(view, offset + AT_POSITION, stamp.position);
  view.setBigUint64(offset + AT_IDENTITY, stamp.identity, true);
  view.setUint32(offset + AT_UNSYNCED, stamp.position - stamp.durableBefore, true);
  view.setUint32(offset + AT_HEADER_CRC, crc32(headerBody(view, offset)), true);
}

/** A record of `size` bytes, at least `HEADER_BYTES`, that means nothing. */
export function encodeVoid(size: number, stamp: RecordStamp): Uint8Array {
  const view = new DataView(new ArrayBuffer(size));
  const block = [new Uint8Array(size - HEADER_BYTES)];
  encodeRecord(view, 0, size, { rows: 0, receivedAtMs: 0, block, keys: new Uint8Array(0) });
  stampRecord(view, 0, stamp);
  return new Uint8Array(view.buffer);
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
  if (unsynced > start || view.getUint32(offset + AT_ZERO, true) !== 0) return undefined;
  return {
    start,
    end: start + size,
    identity: view.getBigUint64(offset + AT_IDENTITY, true),
    rows: view.getUint32(offset + AT_ROWS, true),
    receivedAtMs,
    keyBytes,
    blockBytes,
    payloadCrc: view.getUint32(offset + AT_PAYLOAD_CRC, true),
    payloadHash: view.getBigUint64(offset + AT_PAYLOAD_HASH, true),
    durableBefore: start - unsynced,
  };
}
