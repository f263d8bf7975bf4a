import { expect, test } from "bun:test";
import fc from "fast-check";
import { compress } from "snappyjs";
import { snappyLength, unpackSnappy } from "../../../ingest/decode/snappy.ts";
import { IngestRejectedError } from "../../../ingest/errors.ts";

/** Bytes that repeat themselves, near and far. */
const repetitive = fc
  .array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 400 })), {
    maxLength: 6,
  })
  .map(
    (parts) =>
      new Uint8Array(Buffer.concat(parts.map(([part, times]) => Buffer.concat(Array(times).fill(part))))),
  );

test("whatever is packed comes out as it was", () =>
  fc.assert(
    fc.property(fc.oneof(repetitive, fc.uint8Array({ maxLength: 300 })), (bytes) => {
      const block = compress(bytes);
      expect(snappyLength(block)).toBe(bytes.length);
      expect(Buffer.from(unpackSnappy(block)).equals(bytes)).toBe(true);
    }),
  ));

test("a block that is cut off anywhere is refused", () => {
  const block = compress(
    new TextEncoder().encode(`${"abcd".repeat(50)}${crypto.randomUUID()}${"x".repeat(99)}`),
  );
  for (let length = 0; length < block.length; length++)
    expect(() => unpackSnappy(block.slice(0, length))).toThrow(IngestRejectedError);
});

test("bytes changed anywhere are refused or give as many bytes as the head says", () =>
  fc.assert(
    fc.property(
      repetitive,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      (bytes, changes) => {
        const block = compress(bytes);
        // The head is left alone: its callers bound what it says.
        const head = bytes.length < 128 ? 1 : bytes.length < 16_384 ? 2 : 3;
        for (const [at, byte] of changes)
          if (block.length > head) block[head + (at % (block.length - head))] = byte;
        try {
          expect(unpackSnappy(block)).toHaveLength(bytes.length);
        } catch (error) {
          expect(error).toBeInstanceOf(IngestRejectedError);
        }
      },
    ),
  ));

test.each([
  ["a copy from before the beginning", [4, 0b0000_0001, 1]],
  ["a copy of what is not there yet", [8, 0, 0x61, 0b0000_0001, 2]],
  ["a copy beyond the end", [2, 0, 0x61, 0b0001_1101, 1]],
  ["a literal beyond the end", [1, 4, 0x61, 0x62]],
  ["fewer bytes than the head says", [3, 0, 0x61]],
  ["a head that does not end", [0xff, 0xff, 0xff, 0xff, 0xff, 1]],
  ["nothing", []],
])("is refused: %s", (_, bytes) =>
  expect(() => unpackSnappy(Uint8Array.from(bytes))).toThrow(IngestRejectedError),
);
