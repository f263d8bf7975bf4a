import type { StoredRecord } from "./record-store.ts";
import type { QuarantinedRecord } from "./types.ts";

/** Longest part of a character that a cut can leave over. */
const CUT_CHARACTER_MAX_BYTES = 3;

/** A record as the API shows it; of `raw`, what was read of it. */
export function recordJson(record: StoredRecord): QuarantinedRecord {
  const { id, sourceKey, format, place, reason, state, receivedAt, replayedAt, raw, rawBytes } = record;
  const isGone = state === "replayed";
  const isCut = !isGone && raw.length < rawBytes;
  const text = isGone ? null : textOf(raw, isCut);
  return {
    id,
    sourceKey,
    format,
    place,
    reason,
    state,
    receivedAt: receivedAt.toISOString(),
    replayedAt: replayedAt?.toISOString() ?? null,
    bytes: rawBytes,
    raw: isGone ? null : (text ?? Buffer.from(raw).toString("base64")),
    rawEncoding: text === null && !isGone ? "base64" : "utf8",
    rawIsCut: isCut,
  };
}

/** Null for bytes that are no UTF-8. A character that the cut divided is left out. */
function textOf(raw: Uint8Array, isCut: boolean): string | null {
  const spare = isCut ? CUT_CHARACTER_MAX_BYTES : 0;
  for (let cut = 0; cut <= spare; cut++) {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
        raw.subarray(0, raw.length - cut),
      );
    } catch {
      // Perhaps without the last byte.
    }
  }
  return null;
}
