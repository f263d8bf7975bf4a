import { crc32, hash64 } from "./checksum.ts";
import {
  ALIGNMENT,
  AT_HEADER_CRC,
  decodeHeader,
  HEADER_BYTES,
  hasMagic,
  headerBody,
  type RecordHeader,
} from "./format.ts";
import { RECORD_BYTES_MAX } from "./limits.ts";
import { isOneByte, repairSingleByte } from "./repair.ts";

/** Consecutive bytes of one file. A repair changes `bytes`, never the file. */
export interface ScanWindow {
  readonly bytes: Uint8Array;
  /** Over exactly `bytes`. */
  readonly view: DataView;
  /** Position of the first byte. */
  readonly base: number;
  /** No byte of the file follows. */
  readonly isEnd: boolean;
  /** Records of another log are not ours, whatever their checksums say. */
  readonly identity: bigint;
}

export interface ScannedRecord {
  readonly kind: "record";
  readonly header: RecordHeader;
  /** Keys, block and padding. */
  readonly payload: Uint8Array;
  readonly repaired: boolean;
}

/** Bytes that are no readable record. */
export interface ScannedHole {
  readonly kind: "hole";
  readonly start: number;
  readonly end: number;
  /**
   * `incomplete`: the file ends within the record. `payload`: the header is intact, exactly one record is lost.
   * `header`: lost up to the next intact header.
   */
  readonly reason: "incomplete" | "payload" | "header";
}

/** The window ends within a record of `bytes` bytes. */
export interface ScanNeedsMore {
  readonly kind: "more";
  readonly bytes: number;
}

export type ScanItem = ScannedRecord | ScannedHole;

/** What lies at `offset`, which is below the window's length: a record, a hole, or the wish for a larger window. */
export function scanNext(window: ScanWindow, offset: number): ScanItem | ScanNeedsMore {
  const { bytes, base, isEnd } = window;
  const start = base + offset;
  const remaining = bytes.length - offset;
  if (remaining < HEADER_BYTES) {
    if (!isEnd) return { kind: "more", bytes: HEADER_BYTES };
    return { kind: "hole", start, end: start + remaining, reason: "incomplete" };
  }
  const intact = ownHeader(window, offset);
  const header = intact ?? repairHeader(window, offset);
  if (header === undefined) return skipToNextHeader(window, offset);
  const size = header.end - header.start;
  if (size > remaining) {
    if (!isEnd) return { kind: "more", bytes: size };
    return { kind: "hole", start, end: start + remaining, reason: "incomplete" };
  }
  const payload = bytes.subarray(offset + HEADER_BYTES, offset + size);
  if (isWhole(header, payload)) return { kind: "record", header, payload, repaired: intact === undefined };
  if (repairPayload(header, payload)) return { kind: "record", header, payload, repaired: true };
  return { kind: "hole", start, end: header.end, reason: "payload" };
}

/** The header at `offset` if it is intact, of this log, and where it says it is. */
function ownHeader(window: ScanWindow, offset: number): RecordHeader | undefined {
  const header = decodeHeader(window.view, offset);
  if (header?.identity !== window.identity || header.start !== window.base + offset) return undefined;
  return header;
}

/** The hash alone decides; the CRC, whose damage can be traced, is for the repair. */
function isWhole(header: RecordHeader, payload: Uint8Array): boolean {
  return hash64(payload) === header.payloadHash;
}

/** Sets one wrong byte of the header right, in place. Position and identity confirm what the CRC suggests. */
function repairHeader(window: ScanWindow, offset: number): RecordHeader | undefined {
  const { view } = window;
  const body = headerBody(view, offset);
  const computed = crc32(body);
  const stored = view.getUint32(offset + AT_HEADER_CRC, true);
  const syndrome = (computed ^ stored) >>> 0;
  if (isOneByte(syndrome)) {
    view.setUint32(offset + AT_HEADER_CRC, computed, true);
    const header = ownHeader(window, offset);
    if (header !== undefined) return header;
    view.setUint32(offset + AT_HEADER_CRC, stored, true);
  }
  let repaired: RecordHeader | undefined;
  repairSingleByte(body, syndrome, () => {
    repaired = ownHeader(window, offset);
    return repaired !== undefined;
  });
  return repaired;
}

/** Sets one wrong byte of the payload right, in place. The 64-bit hash confirms what the CRC suggests. */
function repairPayload(header: RecordHeader, payload: Uint8Array): boolean {
  const syndrome = (crc32(payload) ^ header.payloadCrc) >>> 0;
  return repairSingleByte(payload, syndrome, () => hash64(payload) === header.payloadHash);
}

/** The hole up to the next intact header. Asks for a larger window rather than end the hole with the window. */
function skipToNextHeader(window: ScanWindow, offset: number): ScanItem | ScanNeedsMore {
  const { view, bytes, base, isEnd } = window;
  const start = base + offset;
  const last = bytes.length - HEADER_BYTES;
  let at = offset + ALIGNMENT;
  for (; at <= last; at += ALIGNMENT) {
    if (hasMagic(view, at) && ownHeader(window, at) !== undefined) {
      return { kind: "hole", start, end: base + at, reason: "header" };
    }
  }
  if (isEnd) return { kind: "hole", start, end: base + bytes.length, reason: "header" };
  const searched = bytes.length - offset;
  if (searched < RECORD_BYTES_MAX) return { kind: "more", bytes: Math.min(searched * 2, RECORD_BYTES_MAX) };
  return { kind: "hole", start, end: base + at, reason: "header" };
}
