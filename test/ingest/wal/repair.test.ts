import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { crc32, hash64 } from "../../../ingest/wal/checksum.ts";
import { decodeSlot, encodeSlot } from "../../../ingest/wal/ledger-slot.ts";
import { repairSingleByte, singleByteChanges } from "../../../ingest/wal/repair.ts";

describe("single-byte repair", () => {
  test("finds any changed byte of any string", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 3000 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (original, at, xor) => {
          const damaged = original.slice();
          const index = at % original.length;
          damaged[index] = (damaged[index] ?? 0) ^ xor;
          const syndrome = (crc32(damaged) ^ crc32(original)) >>> 0;
          expect([...singleByteChanges(damaged.length, syndrome)]).toContainEqual({ index, xor });
          const wanted = hash64(original);
          expect(repairSingleByte(damaged, syndrome, () => hash64(damaged) === wanted)).toBe(true);
          expect(damaged).toEqual(original);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("leaves bytes alone that no single change explains", () => {
    const original = crypto.getRandomValues(new Uint8Array(1000));
    const damaged = original.slice();
    damaged[10] = (damaged[10] ?? 0) ^ 1;
    damaged[700] = (damaged[700] ?? 0) ^ 128;
    const before = damaged.slice();
    const syndrome = (crc32(damaged) ^ crc32(original)) >>> 0;
    expect(repairSingleByte(damaged, syndrome, () => hash64(damaged) === hash64(original))).toBe(false);
    expect(damaged).toEqual(before);
  });

  test("walks a megabyte in linear time and finds its first byte", () => {
    const original = new Uint8Array(1 << 20).fill(7);
    const damaged = original.slice();
    damaged[0] = 8;
    const syndrome = (crc32(damaged) ^ crc32(original)) >>> 0;
    expect([...singleByteChanges(damaged.length, syndrome)]).toContainEqual({ index: 0, xor: 15 });
  });
});

describe("ledger slot", () => {
  const state = {
    sequence: 7,
    identity: 0x0123456789abcdefn,
    flushedThrough: 2 ** 40 + 8,
    intentEnd: 2 ** 52,
    positionFloor: 16,
  };

  test("comes back as it was written", () => {
    expect(decodeSlot(encodeSlot(state))).toEqual(state);
  });

  test("survives any change of any one byte", () => {
    for (let index = 0; index < 64; index++) {
      for (const xor of [1, 0x80, 0xff]) {
        const bytes = encodeSlot(state);
        bytes[index] = (bytes[index] ?? 0) ^ xor;
        expect(decodeSlot(bytes)).toEqual(state);
      }
    }
  });

  test("is refused when torn at any byte, or blank", () => {
    const older = encodeSlot({ ...state, sequence: 5, flushedThrough: 8, intentEnd: 24 });
    const newer = encodeSlot(state);
    for (let torn = 0; torn <= 64; torn++) {
      const bytes = older.slice();
      bytes.set(newer.subarray(0, torn));
      const decoded = decodeSlot(bytes);
      if (decoded !== undefined) expect([5, 7]).toContain(decoded.sequence);
      if (decoded?.sequence === 7) expect(decoded).toEqual(state);
    }
    expect(decodeSlot(new Uint8Array(64))).toBeUndefined();
    expect(decodeSlot(new Uint8Array(10))).toBeUndefined();
  });
});
