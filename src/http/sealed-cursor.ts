import { createHmac, timingSafeEqual } from "node:crypto";

const MAC_BYTES = 16;

/** The key, whose cursor it is, and everything else that has to be the same when it comes back. */
export interface CursorSeal {
  readonly key: Uint8Array;
  /** What the cursor goes through, with its filters. */
  readonly purpose: string;
  readonly organizationId: number;
}

/** A text that holds `payload` and shows that we made it. */
export function sealCursor(payload: Uint8Array, seal: CursorSeal): string {
  return Buffer.concat([payload, macOf(payload, seal)]).toString("base64url");
}

/** The payload of that many bytes; null for a text that `sealCursor` did not make under the same seal. */
export function openCursor(text: string, payloadBytes: number, seal: CursorSeal): Buffer | null {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length !== payloadBytes + MAC_BYTES || bytes.toString("base64url") !== text) return null;
  const payload = bytes.subarray(0, payloadBytes);
  return timingSafeEqual(bytes.subarray(payloadBytes), macOf(payload, seal)) ? payload : null;
}

function macOf(payload: Uint8Array, { key, purpose, organizationId }: CursorSeal): Buffer {
  const mac = createHmac("sha256", key).update(`${organizationId}:${purpose}\0`).update(payload).digest();
  return mac.subarray(0, MAC_BYTES);
}
