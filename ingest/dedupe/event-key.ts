/** Words of 32 bits of a key: the organization and 96 bits of hash. */
export const EVENT_KEY_WORDS = 4;

/**
 * Writes the key of an event id to `target[at, at + 4)`: the organization as it is, so that no id can be made up that
 * collides across organizations, then three lanes of MurmurHash3_x86_128 (Appleby, public domain algorithm) over the
 * id's bytes. Among a hundred million ids of one organization two share a key with a probability below 10^-13.
 */
export function writeEventKey(
  target: Uint32Array,
  at: number,
  organizationId: number,
  source: Uint8Array,
  start: number,
  end: number,
): void {
  let h1 = 0;
  let h2 = 0;
  let h3 = 0;
  let h4 = 0;
  let offset = start;
  // A short last block is read as if zero bytes followed; the length mixed in below keeps such ids apart.
  for (; offset < end; offset += 16) {
    h1 ^= scramble(word(source, offset, end), 0x239b961b, 15, 0xab0e9789);
    h1 = (Math.imul(rotate(h1, 19) + h2, 5) + 0x561ccd1b) | 0;
    h2 ^= scramble(word(source, offset + 4, end), 0xab0e9789, 16, 0x38b34ae5);
    h2 = (Math.imul(rotate(h2, 17) + h3, 5) + 0x0bcaa747) | 0;
    h3 ^= scramble(word(source, offset + 8, end), 0x38b34ae5, 17, 0xa1e38b93);
    h3 = (Math.imul(rotate(h3, 15) + h4, 5) + 0x96cd1c35) | 0;
    h4 ^= scramble(word(source, offset + 12, end), 0xa1e38b93, 18, 0x239b961b);
    h4 = (Math.imul(rotate(h4, 13) + h1, 5) + 0x32ac3b17) | 0;
  }
  const length = end - start;
  h1 ^= length;
  h2 ^= length;
  h3 ^= length;
  h4 ^= length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = finish((h2 + h1) | 0);
  h3 = finish((h3 + h1) | 0);
  h4 = finish((h4 + h1) | 0);
  h1 = (finish(h1) + h2 + h3 + h4) | 0;
  target[at] = organizationId;
  target[at + 1] = h1;
  target[at + 2] = h2 + h1;
  target[at + 3] = h3 + h1;
}

function word(source: Uint8Array, at: number, end: number): number {
  if (at + 4 <= end)
    return (
      (source[at] ?? 0) |
      ((source[at + 1] ?? 0) << 8) |
      ((source[at + 2] ?? 0) << 16) |
      ((source[at + 3] ?? 0) << 24)
    );
  let value = 0;
  for (let i = at; i < end; i++) value |= (source[i] ?? 0) << ((i - at) * 8);
  return value;
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function scramble(value: number, before: number, bits: number, after: number): number {
  return Math.imul(rotate(Math.imul(value, before), bits), after);
}

function finish(value: number): number {
  let h = value;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}
