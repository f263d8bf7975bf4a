import type { ByteBuffer } from "../native/byte-buffer.ts";

/** Bytes of the multi-byte UTF-8 sequence at `at` (RFC 3629: no overlong forms, no surrogates), 0 when there is none. */
export function utf8SequenceLength(source: Uint8Array, at: number, end: number): number {
  const lead = source[at] ?? 0;
  const second = at + 1 < end ? (source[at + 1] ?? 0) : 0;
  if (lead >= 0xc2 && lead <= 0xdf) return isContinuation(second) ? 2 : 0;
  const third = at + 2 < end ? (source[at + 2] ?? 0) : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const low = lead === 0xe0 ? 0xa0 : 0x80;
    const high = lead === 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high && isContinuation(third) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const low = lead === 0xf0 ? 0x90 : 0x80;
    const high = lead === 0xf4 ? 0x8f : 0xbf;
    const fourth = at + 3 < end ? (source[at + 3] ?? 0) : 0;
    return second >= low && second <= high && isContinuation(third) && isContinuation(fourth) ? 4 : 0;
  }
  return 0;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Appends a code point as UTF-8 and returns its length in bytes. */
export function writeUtf8(out: ByteBuffer, code: number): number {
  if (code < 0x80) {
    out.writeByte(code);
    return 1;
  }
  if (code < 0x800) {
    out.writeByte(0xc0 | (code >> 6));
    out.writeByte(0x80 | (code & 0x3f));
    return 2;
  }
  if (code < 0x10000) {
    out.writeByte(0xe0 | (code >> 12));
    out.writeByte(0x80 | ((code >> 6) & 0x3f));
    out.writeByte(0x80 | (code & 0x3f));
    return 3;
  }
  out.writeByte(0xf0 | (code >> 18));
  out.writeByte(0x80 | ((code >> 12) & 0x3f));
  out.writeByte(0x80 | ((code >> 6) & 0x3f));
  out.writeByte(0x80 | (code & 0x3f));
  return 4;
}
