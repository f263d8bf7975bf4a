import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LINE_MAX_BYTES, MESSAGE_MAX_CHARS } from "../../../clients/cli/limits.ts";
import type { ByteSource } from "../../../clients/cli/ship/byte-source.ts";
import { endOfCodePoints } from "../../../clients/cli/ship/code-points.ts";
import { LineSplitter } from "../../../clients/cli/ship/line-splitter.ts";
import { START } from "../../../clients/cli/ship/position.ts";

/** Gives `bytes` in reads of the given sizes, used over and over. */
function chunkedSource(bytes: Uint8Array, sizes: readonly number[]): ByteSource {
  let at = 0;
  let reads = 0;
  return {
    read: async (target) => {
      const size = Math.min(sizes[reads++ % sizes.length] ?? bytes.length, target.length, bytes.length - at);
      target.set(bytes.subarray(at, at + size));
      at += size;
      return size;
    },
  };
}

interface Piece {
  readonly text: string;
  readonly offset: number;
  readonly endsLine: boolean;
}

async function piecesOf(bytes: Uint8Array, sizes: readonly number[]): Promise<Piece[]> {
  const splitter = new LineSplitter(chunkedSource(bytes, sizes), START);
  const pieces: Piece[] = [];
  for (;;) {
    while (splitter.next()) {
      const text = splitter.bytes.toString("latin1", splitter.start, splitter.end);
      pieces.push({ text, offset: splitter.offset, endsLine: splitter.endsLine });
    }
    if (splitter.ended) return pieces;
    await splitter.fill();
  }
}

function joined(pieces: readonly Piece[]): string[] {
  const lines: string[] = [];
  let line = "";
  for (const { text, endsLine } of pieces) {
    line += text;
    if (!endsLine) continue;
    lines.push(line);
    line = "";
  }
  expect(line).toBe("");
  return lines;
}

/** One byte a character, so that any bytes can be compared as text. */
function plainSplit(bytes: Uint8Array): string[] {
  const lines = Buffer.from(bytes).toString("latin1").split("\n");
  const last = lines.pop() ?? "";
  const ended = lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  return last === "" ? ended : [...ended, last];
}

const sizes = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 8 });
const textBytes = fc
  .array(fc.constantFrom("\n", "\r", "\r\n", "a", "\u0000", "é", "日", "\u{1f600}", "word "), {
    maxLength: 200,
  })
  .map((parts) => Buffer.from(parts.join("")));

describe("lines", () => {
  test("do not depend on how the input was read", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(textBytes, fc.uint8Array({ maxLength: 300 })),
        sizes,
        async (bytes, reads) => {
          expect(joined(await piecesOf(bytes, reads))).toEqual(plainSplit(bytes));
        },
      ),
      { numRuns: 200 },
    );
  });

  test("of any length come back whole, cut at the same places however they were read", async () => {
    const unit = fc.constantFrom("x", "é", "日", "\u{1f600}", "ab\r", "\xff");
    const bigSizes = fc.array(fc.integer({ min: 1000, max: 2_000_000 }), { minLength: 1, maxLength: 4 });
    const longLine = fc
      .tuple(unit, fc.integer({ min: LINE_MAX_BYTES - 5, max: LINE_MAX_BYTES * 3 }))
      .map(([text, bytes]) => text.repeat(Math.ceil(bytes / Buffer.byteLength(text))));
    const input = fc
      .array(fc.oneof(longLine, fc.constant("short"), fc.constant("")), { minLength: 1, maxLength: 3 })
      .chain((lines) => fc.constantFrom("\n", "\r\n").map((ending) => Buffer.from(lines.join(ending))));
    await fc.assert(
      fc.asyncProperty(input, bigSizes, bigSizes, async (bytes, reads, otherReads) => {
        const pieces = await piecesOf(bytes, reads);
        expect(joined(pieces).join("\n") === plainSplit(bytes).join("\n")).toBe(true);
        const others = await piecesOf(bytes, otherReads);
        const places = (all: readonly Piece[]): string => JSON.stringify(all.map(({ offset }) => offset));
        expect(places(others)).toBe(places(pieces));
      }),
      { numRuns: 12 },
    );
  });
});

describe("a cut after a number of code points", () => {
  const anyBytes = fc.oneof(
    textBytes,
    fc.uint8Array({ maxLength: 60 }),
    fc.array(fc.constantFrom(0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xed, 0xa0, 0xf4, 0x90, 0xc0, 0x41), {
      maxLength: 40,
    }),
  );
  const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

  test("lies where a decoder has made that many, and changes nothing of what either side means", () => {
    fc.assert(
      fc.property(anyBytes, fc.integer({ min: 0, max: 50 }), (raw, max) => {
        const bytes = Uint8Array.from(raw);
        const cut = endOfCodePoints(bytes, 0, bytes.length, max);
        const [head, tail] = [decode(bytes.subarray(0, cut)), decode(bytes.subarray(cut))];
        expect(head + tail).toBe(decode(bytes));
        expect([...head].length).toBe(Math.min(max, [...decode(bytes)].length));
      }),
      { numRuns: 1000 },
    );
  });

  test("never splits a character of four bytes", () => {
    const bytes = Buffer.from("\u{1f600}".repeat(MESSAGE_MAX_CHARS + 1));
    expect(endOfCodePoints(bytes, 0, bytes.length, MESSAGE_MAX_CHARS)).toBe(MESSAGE_MAX_CHARS * 4);
  });
});
