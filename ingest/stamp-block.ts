import { BlockReader } from "./native/block-reader.ts";

/**
 * Gives the entries of a block that `LogBatch.writeTo` wrote their ids, `firstId` and upwards in steps of `idStep`, and
 * their time of receipt, in place.
 */
export function stampBlock(block: Uint8Array, firstId: bigint, idStep: number, receivedAtMs: number): void {
  const reader = new BlockReader(block);
  const [, , ids, receivedAt] = FIRST_COLUMNS.map(([name, width]) => {
    if (reader.columnName() !== name) throw new Error(`a block has no column ${name} where it belongs`);
    return reader.fixed(width);
  });
  if (ids === undefined || receivedAt === undefined) return;
  const received = BigInt(receivedAtMs);
  let low = Number(BigInt.asUintN(32, firstId));
  let high = Number(firstId >> 32n);
  for (let at = 0; at < ids.byteLength; at += 8) {
    ids.setUint32(at, low, true);
    ids.setUint32(at + 4, high, true);
    receivedAt.setBigInt64(at, received, true);
    low += idStep;
    if (low < 2 ** 32) continue;
    low -= 2 ** 32;
    high++;
  }
}

/** The first columns of a block, and the bytes that each has for a row. */
const FIRST_COLUMNS = [
  ["organization_id", 4],
  ["ts", 8],
  ["id", 8],
  ["received_at", 8],
] as const;
