import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { JsonScanner } from "../../../ingest/decode/json-scanner.ts";
import { ByteBuffer } from "../../../ingest/native/byte-buffer.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The compact text of the one JSON value that the bytes hold, or null. */
function compact(bytes: Uint8Array): string | null {
  const scanner = new JsonScanner();
  scanner.reset(bytes);
  const out = new ByteBuffer();
  return scanner.copyValue(out) && scanner.peek() === -1 ? decoder.decode(out.view()) : null;
}

/** What JSON.parse makes of the bytes; undefined when it refuses them. */
function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

describe("JSON scanner", () => {
  test("every JSON text is copied with its meaning unchanged, however it is spaced", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 8, stringUnit: "binary" }),
        fc.constantFrom("", " ", "\t", "\r\n"),
        (value, space) => {
          const bytes = encoder.encode(`${space}${JSON.stringify(value, null, space)}${space}`);
          expect(JSON.parse(compact(bytes) ?? "nothing")).toEqual(JSON.parse(decoder.decode(bytes)));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("a damaged text is refused exactly when JSON.parse refuses it", () => {
    const damage = fc.record({ at: fc.nat(200), byte: fc.nat(255), remove: fc.nat(2) });
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4, stringUnit: "grapheme" }),
        fc.array(damage, { maxLength: 3 }),
        (value, damages) => {
          const bytes = [...encoder.encode(JSON.stringify(value))];
          for (const { at, byte, remove } of damages) bytes.splice(at % (bytes.length + 1), remove, byte);
          const damaged = Uint8Array.from(bytes);
          const expected = parse(damaged);
          const copied = compact(damaged);
          expect(copied === null ? undefined : JSON.parse(copied)).toEqual(expected);
        },
      ),
      { numRuns: 5000 },
    );
  });

  test("strings are read as JSON.parse reads them, half surrogate pairs as the replacement character", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }).map((text) => JSON.stringify(text).slice(1, -1)),
      fc.constantFrom(
        "\\u0041",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\ude00",
        "\\ud83d\\u0041",
        "\\/",
        "\\b\\f",
        "é",
        "漢",
        "😀",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const text = `"${pieces.join("")}"`;
        const scanner = new JsonScanner();
        scanner.reset(encoder.encode(text));
        expect(scanner.readString()).toBe(true);
        const expected = String(JSON.parse(text)).toWellFormed();
        expect(decoder.decode(scanner.stringBytes.subarray(scanner.stringStart, scanner.stringEnd))).toBe(
          expected,
        );
        expect(scanner.stringChars).toBe([...expected].length);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    "01",
    "-",
    "1.",
    ".5",
    "1e",
    "1e+",
    "+1",
    "0x10",
    "NaN",
    "tru",
    "nul",
    "'a'",
    '"\t"',
    '"\\x"',
    '"\\u12g4"',
    "[1,]",
    "[,1]",
    '{"a":1,}',
    "{a:1}",
    '{"a"}',
    "[1 2]",
    "",
    " ",
    '"',
    "[",
    "{",
  ])("%p is refused", (text) => expect(compact(encoder.encode(text))).toBeNull());

  test("digits are kept as they are written", () => {
    expect(compact(encoder.encode("[12345678901234567890, 1.0, -0, 1E400]"))).toBe(
      "[12345678901234567890,1.0,-0,1E400]",
    );
  });

  test("invalid UTF-8 is refused: overlong forms, surrogates, cut sequences, bytes beyond Unicode", () => {
    for (const bytes of [
      [0xc0, 0xaf],
      [0xe0, 0x80, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf0, 0x80, 0x80, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xe2, 0x82],
      [0xff],
      [0x80],
    ])
      expect(compact(Uint8Array.from([0x22, ...bytes, 0x22]))).toBeNull();
  });

  test("nesting beyond the bound is refused without harm to the stack", () => {
    expect(compact(encoder.encode("[".repeat(32) + "]".repeat(32)))).not.toBeNull();
    expect(compact(encoder.encode("[".repeat(33) + "]".repeat(33)))).toBeNull();
    expect(compact(encoder.encode("[".repeat(1_000_000)))).toBeNull();
  });
});
