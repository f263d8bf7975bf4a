import { expect, test } from "bun:test";
import { crc32, hash64 } from "../../../ingest/wal/checksum.ts";

// The values are on disks: a runtime that computes others would find every record damaged.
test("the checksums are the published CRC-32 and XXH3", () => {
  expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
  expect(hash64(new Uint8Array(0))).toBe(0x2d06800538d394c2n);
});

test("the 64-bit hash of short, middle and long inputs is that of the reference implementation", () => {
  const bytes = Uint8Array.from({ length: 2000 }, (_, i) => (i * 131 + (i >> 3)) & 0xff);
  const hashes = [1, 8, 16, 100, 128, 200, 240, 241, 1024, 2000].map((n) =>
    hash64(bytes.subarray(0, n)).toString(16),
  );
  expect(hashes).toEqual([
    "c44bdff4074eecdb",
    "e5b43ab074c9c13b",
    "ac4b400b09fefc71",
    "507043c89a8ab142",
    "abe5353db9741d3c",
    "a40a65d6c0d4d27f",
    "3b7fbc325f2fe844",
    "a9d16963bf94ed57",
    "9de7f57ae046252a",
    "adb1d2a498f8f694",
  ]);
});
