import { expect, test } from "bun:test";
import fc from "fast-check";
import { NulFrames } from "../../../../ingest/decode/gelf/nul-frames.ts";

const MAX = 20;

/** The frames of a stream, read after each of the pieces in which it comes. */
function framesOf(pieces: readonly Uint8Array[]): { frames: string[]; cut: number } {
  const source = new NulFrames({ maxFrameBytes: MAX });
  const frames: string[] = [];
  for (const piece of pieces) {
    source.push(piece);
    for (let frame = source.next(); frame !== null; frame = source.next())
      frames.push(Buffer.from(frame).toString("latin1"));
  }
  const rest = source.rest();
  if (rest !== null) frames.push(Buffer.from(rest).toString("latin1"));
  return { frames, cut: source.cut };
}

test("frames arrive whole and in order however the stream is split; long ones are cut", () =>
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: fc.constantFrom("a", "b", "{"), minLength: 1, maxLength: 30, size: "max" }),
        {
          maxLength: 8,
        },
      ),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1 }),
      (texts, isTerminated, sizes) => {
        // The last frame may have no end.
        const kept = isTerminated
          ? texts
          : texts.map((text, i) => (i === texts.length - 1 ? text.slice(0, MAX) : text));
        const stream = Buffer.from(kept.join("\0") + (isTerminated && kept.length > 0 ? "\0\0" : ""));
        const pieces: Uint8Array[] = [];
        for (let at = 0, i = 0; at < stream.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          pieces.push(stream.subarray(at, at + size));
          at += size;
        }
        expect(framesOf(pieces)).toEqual({
          frames: kept.map((text) => text.slice(0, MAX)),
          cut: kept.filter((text) => text.length > MAX).length,
        });
      },
    ),
    { numRuns: 300 },
  ));
