import { createHmac, timingSafeEqual } from "node:crypto";
import type { EntryPosition } from "./entry-json.ts";

/** Where a search goes on, and what its first page found out. */
export interface SearchCursor {
  /** The last entry of the page before. */
  readonly position: EntryPosition;
  /** The newest id there was when the first page was made; later pages show nothing beyond it. */
  readonly newestId: bigint;
  readonly total: number;
  readonly totalIsExact: boolean;
}

/** The key and everything that has to be the same on every page. */
export interface CursorSeal {
  readonly key: Uint8Array;
  readonly organizationId: number;
  /** The filters of the search, as one text. */
  readonly filters: string;
}

// 1 byte version, 8 ts, 8 id, 8 newest id, 4 total with its top bit for "at least", 16 of HMAC-SHA256: 45 bytes, so
// that base64url needs 60 characters and no padding, and every cursor has one spelling only.
const VERSION = 1;
const PAYLOAD_BYTES = 29;
const MAC_BYTES = 16;
const PATTERN = /^[A-Za-z0-9_-]{60}$/;
const AT_LEAST = 0x8000_0000;

export function encodeCursor(cursor: SearchCursor, seal: CursorSeal): string {
  const bytes = Buffer.alloc(PAYLOAD_BYTES);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeBigInt64BE(cursor.position.tsNs, 1);
  bytes.writeBigUInt64BE(cursor.position.id, 9);
  bytes.writeBigUInt64BE(cursor.newestId, 17);
  bytes.writeUInt32BE(cursor.totalIsExact ? cursor.total : cursor.total + AT_LEAST, 25);
  return Buffer.concat([bytes, macOf(bytes, seal)]).toString("base64url");
}

/** Null for a text that `encodeCursor` did not make under the same seal. */
export function decodeCursor(text: string, seal: CursorSeal): SearchCursor | null {
  if (!PATTERN.test(text)) return null;
  const bytes = Buffer.from(text, "base64url");
  const payload = bytes.subarray(0, PAYLOAD_BYTES);
  if (!timingSafeEqual(bytes.subarray(PAYLOAD_BYTES), macOf(payload, seal))) return null;
  if (payload.readUInt8(0) !== VERSION) return null;
  const total = payload.readUInt32BE(25);
  return {
    position: { tsNs: payload.readBigInt64BE(1), id: payload.readBigUInt64BE(9) },
    newestId: payload.readBigUInt64BE(17),
    total: total >= AT_LEAST ? total - AT_LEAST : total,
    totalIsExact: total < AT_LEAST,
  };
}

function macOf(payload: Uint8Array, { key, organizationId, filters }: CursorSeal): Buffer {
  const mac = createHmac("sha256", key).update(payload).update(`${organizationId}:${filters}`).digest();
  return mac.subarray(0, MAC_BYTES);
}
