import { crc32, hash64 } from "./checksum.ts";
import { repairSingleByte } from "./repair.ts";
import { getUint53, setUint53 } from "./uint53.ts";

/*
 * A slot: 64 bytes, little-endian.
 *
 *    0  u32  magic "OBL1"          32  u64  intentEnd
 *    4  u32  zero                  40  u64  positionFloor
 *    8  u64  sequence              48  u64  XXH3 of bytes 0..47
 *   16  u64  identity of the log   56  u32  zero
 *   24  u64  flushedThrough        60  u32  CRC-32 of bytes 0..59
 */
const MAGIC = 0x314c424f;
const AT_SEQUENCE = 8;
const AT_IDENTITY = 16;
const AT_FLUSHED = 24;
const AT_INTENT = 32;
const AT_FLOOR = 40;
const AT_HASH = 48;
const AT_CRC = 60;

export const SLOT_BYTES = 64;

export interface LedgerState {
  /** Grows by one with every write; the slot with the higher one counts. */
  readonly sequence: number;
  readonly identity: bigint;
  readonly flushedThrough: number;
  readonly intentEnd: number;
  /** New records start at or above it; set when a lost ledger was replaced. */
  readonly positionFloor: number;
}

export function encodeSlot(state: LedgerState): Uint8Array {
  const bytes = new Uint8Array(SLOT_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  setUint53(view, AT_SEQUENCE, state.sequence);
  view.setBigUint64(AT_IDENTITY, state.identity, true);
  setUint53(view, AT_FLUSHED, state.flushedThrough);
  setUint53(view, AT_INTENT, state.intentEnd);
  setUint53(view, AT_FLOOR, state.positionFloor);
  view.setBigUint64(AT_HASH, hash64(bytes.subarray(0, AT_HASH)), true);
  view.setUint32(AT_CRC, crc32(bytes.subarray(0, AT_CRC)), true);
  return bytes;
}

/**
 * The state in a slot; undefined when it was never written, is torn or is damaged beyond one byte. Repairs one wrong
 * byte in place.
 */
export function decodeSlot(bytes: Uint8Array): LedgerState | undefined {
  if (bytes.length < SLOT_BYTES) return undefined;
  const slot = bytes.subarray(0, SLOT_BYTES);
  const view = new DataView(slot.buffer, slot.byteOffset, SLOT_BYTES);
  const body = slot.subarray(0, AT_CRC);
  const syndrome = (crc32(body) ^ view.getUint32(AT_CRC, true)) >>> 0;
  // The hash covers the state on its own, so damage of the CRC field or of the zeros needs no repair.
  if (isSound(view)) return readState(view);
  return repairSingleByte(body, syndrome, () => isSound(view)) ? readState(view) : undefined;
}

function isSound(view: DataView): boolean {
  if (view.getUint32(0, true) !== MAGIC) return false;
  const state = new Uint8Array(view.buffer, view.byteOffset, AT_HASH);
  return hash64(state) === view.getBigUint64(AT_HASH, true);
}

function readState(view: DataView): LedgerState | undefined {
  const sequence = getUint53(view, AT_SEQUENCE);
  const flushedThrough = getUint53(view, AT_FLUSHED);
  const intentEnd = getUint53(view, AT_INTENT);
  const positionFloor = getUint53(view, AT_FLOOR);
  if (sequence === undefined || positionFloor === undefined) return undefined;
  if (flushedThrough === undefined || intentEnd === undefined || flushedThrough > intentEnd) return undefined;
  const identity = view.getBigUint64(AT_IDENTITY, true);
  return { sequence, identity, flushedThrough, intentEnd, positionFloor };
}
