import { IngestRejectedError } from "../errors.ts";

/** Kinds of elements; those of copies differ by the width of the offset. */
const LITERAL = 0;
const NEAR_COPY = 1;
/** Lengths of literals beyond this stand in bytes behind the tag, as many as the tag's length has beyond it. */
const SHORT_LITERAL_MAX = 60;
const LENGTH_MAX_BYTES = 5;

/** Bytes that a block unpacks to, by its head. Throws IngestRejectedError for what is no block. */
export function snappyLength(block: Uint8Array): number {
  let length = 0;
  for (let at = 0; at < LENGTH_MAX_BYTES && at < block.length; at++) {
    const byte = block[at] ?? 0;
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return length;
  }
  throw damaged();
}

/**
 * Unpacks a Snappy block whole. Whoever received it has found that `snappyLength` is not too much. Throws IngestRejectedError
 * for a block that is damaged or cut off. Source: Snappy, "Snappy compressed format description".
 */
export function unpackSnappy(block: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(snappyLength(block));
  const end = block.length;
  let at = 0;
  while ((block[at++] ?? 0) >= 0x80);
  let length = 0;
  while (at < end) {
    const tag = block[at++] ?? 0;
    const kind = tag & 3;
    let count = kind === NEAR_COPY ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    // How many bytes of a length or an offset follow.
    const width = kind === LITERAL ? Math.max(count - SHORT_LITERAL_MAX, 0) : kind === 3 ? 4 : kind;
    if (at + width > end) throw damaged();
    let number = 0;
    for (let i = 0; i < width; i++) number += (block[at++] ?? 0) * 2 ** (8 * i);
    if (kind === LITERAL) {
      if (width > 0) count = number + 1;
      if (at + count > end || length + count > out.length) throw damaged();
      out.set(block.subarray(at, at + count), length);
      at += count;
    } else {
      const offset = kind === NEAR_COPY ? number + ((tag >>> 5) << 8) : number;
      if (offset === 0 || offset > length || length + count > out.length) throw damaged();
      // Byte by byte, because a copy may repeat what it writes itself.
      for (let i = length; i < length + count; i++) out[i] = out[i - offset] ?? 0;
    }
    length += count;
  }
  if (length !== out.length) throw damaged();
  return out;
}

function damaged(): IngestRejectedError {
  const message = "the body is no whole Snappy block";
  return new IngestRejectedError(message, [{ path: "", code: "custom", message }]);
}
