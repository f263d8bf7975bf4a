/**
 * Where the first `max` code points of bytes[start, end) end, or `end` when there are fewer. Counts what a decoder makes of
 * the bytes: each maximal part of an invalid sequence is one U+FFFD (WHATWG Encoding, UTF-8 decoder), so a cut here never
 * changes what either side decodes to.
 */
export function endOfCodePoints(bytes: Uint8Array, start: number, end: number, max: number): number {
  let at = start;
  for (let count = 0; count < max && at < end; count++) at = endOfCodePoint(bytes, at, end);
  return at;
}

function endOfCodePoint(bytes: Uint8Array, start: number, end: number): number {
  const lead = bytes[start] ?? 0;
  let at = start + 1;
  if (lead < 0xc2 || lead > 0xf4) return at;
  const following = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  // The second byte decides about overlong forms, surrogates and values beyond U+10FFFF.
  let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  let high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (; at <= start + following && at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < low || byte > high) break;
    low = 0x80;
    high = 0xbf;
  }
  return at;
}
