const TWO_POW_32 = 2 ** 32;
const HIGH_LIMIT = 2 ** 21;

/** Stores a safe non-negative integer as a little-endian 64-bit number. */
export function setUint53(view: DataView, offset: number, value: number): void {
  view.setUint32(offset, value % TWO_POW_32, true);
  view.setUint32(offset + 4, Math.floor(value / TWO_POW_32), true);
}

/** Reads what `setUint53` stored; undefined when the 64-bit number is not a safe integer. */
export function getUint53(view: DataView, offset: number): number | undefined {
  const high = view.getUint32(offset + 4, true);
  return high < HIGH_LIMIT ? high * TWO_POW_32 + view.getUint32(offset, true) : undefined;
}
