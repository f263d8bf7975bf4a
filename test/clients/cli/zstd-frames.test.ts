import { expect, test } from "bun:test";
import { constants, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { ZstdFrames } from "../../../clients/cli/ship/zstd-frames.ts";

const SKIPPABLE = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

const frame = fc
  .record({
    text: fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.constant(new Uint8Array(300_000)),
      fc.constant(new Uint8Array(0)),
    ),
    checksum: fc.boolean(),
    contentSize: fc.boolean(),
  })
  .map(({ text, checksum, contentSize }) =>
    zstdCompressSync(text, {
      params: {
        [constants.ZSTD_c_checksumFlag]: Number(checksum),
        [constants.ZSTD_c_contentSizeFlag]: Number(contentSize),
      },
    }),
  );

/** Whether the frames are whole, read in pieces of a size. */
function isWhole(bytes: Uint8Array, pieceBytes: number): boolean {
  const frames = new ZstdFrames();
  for (let at = 0; at < bytes.length; at += pieceBytes) frames.take(bytes.subarray(at, at + pieceBytes));
  return frames.isWhole;
}

test("frames of zstd are whole at their end and nowhere before it, in whatever pieces they come", () => {
  const frames = fc.array(fc.oneof(frame, fc.constant(SKIPPABLE)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(frames, fc.integer({ min: 1, max: 5000 }), fc.nat(), (all, pieceBytes, cut) => {
      const bytes = Buffer.concat(all);
      expect(isWhole(bytes, pieceBytes)).toBe(true);
      const ends = all.map((_, i) => Buffer.concat(all.slice(0, i + 1)).length);
      const cutAt = cut % bytes.length;
      expect(isWhole(bytes.subarray(0, cutAt), pieceBytes)).toBe(cutAt === 0 || ends.includes(cutAt));
    }),
  );
});
