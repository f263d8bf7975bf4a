/** CRC-32 (IEEE 802.3, reflected): linear, hence the base of `repair.ts`. */
export function crc32(bytes: Uint8Array): number {
  return Bun.hash.crc32(bytes);
}

/** XXH3 with 64 bits and seed 0: independent of the CRC, it decides whether a repair is right. */
export function hash64(bytes: Uint8Array): bigint {
  return Bun.hash.xxHash3(bytes);
}
