/**
 * Finding one wrong byte from a CRC-32.
 *
 * A CRC is linear: the exclusive or of the stored and the computed CRC, the syndrome, depends only on the difference
 * of the two byte strings. If they differ by the value `xor` at one index, the syndrome is `TABLE[xor]` carried over as
 * many zero bytes as follow the index. Carrying over a zero byte can be undone, so one walk from the last byte to the
 * first tests every index and all 255 differences in linear time.
 */

const POLYNOMIAL = 0xedb88320;

/** TABLE[b]: the CRC register after the byte b, started from zero and without final inversion. */
const TABLE = new Uint32Array(256);
/** The top bytes of the table are a permutation of 0..255; this is its inverse. */
const INDEX_OF_TOP_BYTE = new Uint8Array(256);

for (let byte = 0; byte < 256; byte++) {
  let register = byte;
  for (let bit = 0; bit < 8; bit++) register = (register >>> 1) ^ (register & 1 ? POLYNOMIAL : 0);
  TABLE[byte] = register;
  INDEX_OF_TOP_BYTE[register >>> 24] = byte;
}

/** A change of one byte: the byte at `index` was changed by exclusive or with `xor`. */
interface ByteChange {
  readonly index: number;
  readonly xor: number;
}

/**
 * Every change of one byte, in a string of `length` bytes, that explains `syndrome`. Nearly always none or one; a
 * caller must confirm a candidate by other means, since damage of several bytes can look like one elsewhere.
 */
export function* singleByteChanges(length: number, syndrome: number): Generator<ByteChange> {
  if (syndrome === 0) return;
  let register = syndrome >>> 0;
  for (let index = length - 1; index >= 0; index--) {
    const low = INDEX_OF_TOP_BYTE[register >>> 24] ?? 0;
    const rest = (register ^ (TABLE[low] ?? 0)) >>> 0;
    if (rest === 0 && low !== 0) yield { index, xor: low };
    register = ((rest << 8) | low) >>> 0;
  }
}

/** Whether exactly one byte of a 32-bit value differs from zero: the stored CRC itself was hit. */
export function isOneByte(syndrome: number): boolean {
  let bytes = 0;
  for (let shift = 0; shift < 32; shift += 8) if ((syndrome >>> shift) & 0xff) bytes++;
  return bytes === 1;
}

/**
 * Tries the changes of one byte that explain `syndrome`, in place, until `accept` confirms one. Bytes are as before when
 * the answer is false.
 */
export function repairSingleByte(bytes: Uint8Array, syndrome: number, accept: () => boolean): boolean {
  for (const { index, xor } of singleByteChanges(bytes.length, syndrome)) {
    const damaged = bytes[index] ?? 0;
    bytes[index] = damaged ^ xor;
    if (accept()) return true;
    bytes[index] = damaged;
  }
  return false;
}
