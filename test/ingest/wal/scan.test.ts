import { expect, test } from "bun:test";
import { crc32 } from "../../../ingest/wal/checksum.ts";
import { ALIGNMENT, recordOf, sealRecord } from "../../../ingest/wal/format.ts";
import { type ScanItem, type ScanNeedsMore, scanNext } from "../../../ingest/wal/scan.ts";

const STAMP = { position: 0, identity: 7n, durableBefore: 0, behind: null };
/** The polynomial of CRC-32 itself, as bytes: put over any text by exclusive or, it leaves the CRC as it is. */
const UNSEEN = [0x41, 0x06, 0x71, 0xdb, 0x01];

/** What is found where a record was, once `damage` has been done to its block; it lies where it says, or at `base`. */
function scanned(damage: (block: Uint8Array) => void, base = STAMP.position): ScanItem | ScanNeedsMore {
  const block = crypto.getRandomValues(new Uint8Array(400));
  const record = recordOf({ rows: 1, receivedAtMs: 1, block, keys: new Uint8Array(0) });
  sealRecord(record, STAMP);
  const { bytes } = record;
  const view = new DataView(bytes.buffer);
  damage(bytes.subarray(bytes.length - block.length));
  return scanNext({ bytes, view, base, isEnd: true, identity: STAMP.identity }, 0);
}

function flip(bytes: Uint8Array, at: number, xor: number): void {
  bytes[at] = (bytes[at] ?? 0) ^ xor;
}

test("one wrong byte of a block is set right", () => {
  expect(scanned((block) => flip(block, 200, 1))).toMatchObject({ kind: "record", repaired: true });
});

test("damage that the CRC does not see is seen", () => {
  const found = scanned((block) => {
    const before = crc32(block);
    for (const [i, xor] of UNSEEN.entries()) flip(block, 10 + i, xor);
    expect(crc32(block)).toBe(before);
  });
  expect(found).toMatchObject({ kind: "hole", reason: "payload" });
});

test("damage that the CRC takes for one wrong byte is not called repaired", () => {
  const found = scanned((block) => {
    for (const [i, xor] of UNSEEN.entries()) flip(block, 10 + i, xor);
    flip(block, 200, 1);
  });
  expect(found).toMatchObject({ kind: "hole", reason: "payload" });
});

test("a whole record that lies where another should, such as one of a segment used before, is not read", () => {
  expect(scanned(() => {})).toMatchObject({ kind: "record", repaired: false });
  expect(scanned(() => {}, STAMP.position + ALIGNMENT)).toMatchObject({ kind: "hole", reason: "header" });
});
