import { expect, test } from "bun:test";
import fc from "fast-check";
import { LITERAL_MIN_BYTES, LiteralFinder } from "../../../query/bytes/literal-finder.ts";

const lower = (bytes: Uint8Array): Uint8Array =>
  bytes.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

/** The same, one place after the other. */
function placesOf(literals: readonly { bytes: Uint8Array; ignoresCase: boolean }[], haystack: Uint8Array) {
  return literals.flatMap(({ bytes, ignoresCase }, literal) =>
    Array.from({ length: Math.max(0, haystack.length - bytes.length + 1) }, (_, at) => at)
      .filter((at) => {
        const there = haystack.subarray(at, at + bytes.length);
        return ignoresCase
          ? Buffer.compare(lower(there), lower(bytes)) === 0
          : Buffer.compare(there, bytes) === 0;
      })
      .map((at) => [literal, at]),
  );
}

const ordered = (places: readonly number[][]): number[][] =>
  places.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d);

test("finds every literal in every place, and nothing else, wherever the bytes lie", () => {
  // Few letters, so that literals stand in each other.
  const byte = fc.oneof(fc.constantFrom(0x61, 0x62, 0x41, 0x42, 0x5f), fc.nat(255));
  const bytes = (minLength: number, maxLength: number) =>
    fc
      .uint8Array({ minLength, maxLength })
      .chain((raw) =>
        fc
          .array(byte, { minLength: raw.length, maxLength: raw.length })
          .map((values) => Uint8Array.from(values)),
      );
  fc.assert(
    fc.property(
      fc.array(fc.record({ bytes: bytes(LITERAL_MIN_BYTES, 8), ignoresCase: fc.boolean() }), {
        maxLength: 300,
      }),
      fc.array(
        fc.oneof(
          fc.nat(299).map((literal) => ({ literal })),
          bytes(0, 6),
        ),
        { maxLength: 12 },
      ),
      fc.nat(3),
      fc.nat(3),
      fc.nat(3),
      (literals, pieces, offset, before, after) => {
        const text = Buffer.concat(
          pieces.map((piece) =>
            "literal" in piece ? (literals[piece.literal]?.bytes ?? new Uint8Array()) : piece,
          ),
        );
        const memory = new Uint8Array(offset + before + text.length + after);
        memory.set(text, offset + before);
        const view = memory.subarray(offset);
        const found: number[][] = [];
        new LiteralFinder(literals).find(view, before, before + text.length, (literal, at) =>
          found.push([literal, at - before]),
        );
        expect(ordered(found)).toEqual(ordered(placesOf(literals, text)));
      },
    ),
    { numRuns: 300 },
  );
});

test("refuses what is too short to be found in every place", () => {
  expect(() => new LiteralFinder([{ bytes: new Uint8Array(LITERAL_MIN_BYTES - 1) }])).toThrow(RangeError);
});
