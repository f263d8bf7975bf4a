import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readJsonSequence } from "../../../ingest/decode/json-sequence.ts";

type Piece =
  | { kind: "object"; value: unknown; line: number }
  | { kind: "text" | "broken"; raw: string; line: number };

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  readJsonSequence(text, {
    object: (value, line) => pieces.push({ kind: "object", value, line }),
    text: (raw, line) => pieces.push({ kind: "text", raw, line }),
    broken: (raw, _, line) => pieces.push({ kind: "broken", raw, line }),
  });
  return pieces;
}

const kindsOf = (text: string): string =>
  piecesOf(text)
    .map(({ kind }) => kind)
    .join(" ");

const jsonObject = fc.dictionary(
  fc.string({ unit: "grapheme", maxLength: 8 }).filter((key) => key !== "__proto__"),
  fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }).filter((text) => text.isWellFormed()),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.constantFrom("{", "}", '"', "\\", "\n{", "[", "],")),
    fc.dictionary(fc.constantFrom("a", "}{", '"'), fc.integer(), { maxKeys: 2 }),
  ),
  { maxKeys: 4 },
);

describe("objects that follow one another", () => {
  test("are found with any white space, or none, between them, and however they are laid out", () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            jsonObject,
            fc.constantFrom(0, 2),
            fc.constantFrom("", " ", "\n", "\r\n", ",", ",\n", "\u001e"),
          ),
          {
            maxLength: 6,
          },
        ),
        (values) => {
          const text = values
            .map(([value, indent, gap]) => JSON.stringify(value, null, indent) + gap)
            .join("");
          const found = piecesOf(text);
          expect(found.map((piece) => (piece.kind === "object" ? piece.value : piece.kind))).toEqual(
            values.map(([value]) => JSON.parse(JSON.stringify(value))),
          );
        },
      ),
      { numRuns: 300 },
    ));

  test("are counted by the line they begin on", () => {
    expect(piecesOf('\n{"a":1}\r\n\n{\n "b": 2\n}{"c":3}\ntext').map(({ line }) => line)).toEqual([
      2, 4, 6, 7,
    ]);
  });

  test("keep the digits of long numbers", () => {
    expect(JSON.stringify(piecesOf('{"n":12345678901234567890}')[0])).toContain("12345678901234567890");
  });
});

describe("what is no object", () => {
  test("is a line of text when it does not begin like one", () => {
    expect(
      piecesOf('INFO started {"a":1}\n  at main (app.ts:1)\r\n{error} disk full\n[warn] slow\n42'),
    ).toEqual([
      { kind: "text", raw: 'INFO started {"a":1}', line: 1 },
      { kind: "text", raw: "  at main (app.ts:1)", line: 2 },
      { kind: "text", raw: "{error} disk full", line: 3 },
      { kind: "text", raw: "[warn] slow", line: 4 },
      { kind: "text", raw: "42", line: 5 },
    ]);
  });

  test("is broken when it begins like one, and what comes after it is still found", () => {
    expect(piecesOf('{"a":1\n{"b":2}\n{"c" 3}\n{"d":4}')).toEqual([
      { kind: "broken", raw: '{"a":1', line: 1 },
      { kind: "object", value: { b: 2 }, line: 2 },
      { kind: "broken", raw: '{"c" 3}', line: 3 },
      { kind: "object", value: { d: 4 }, line: 4 },
    ]);
  });

  test("is broken as a whole when an object over several lines is cut off", () => {
    expect(piecesOf('{\n  "a": {\n    "b": 1\n}\n{"c":3}')).toEqual([
      { kind: "broken", raw: '{\n  "a": {\n    "b": 1\n}', line: 1 },
      { kind: "object", value: { c: 3 }, line: 5 },
    ]);
  });

  test("is broken behind an object on the same line", () => {
    expect(piecesOf('{"a":1} and more\n{"b":2}{bad}\nplain')).toEqual([
      { kind: "object", value: { a: 1 }, line: 1 },
      { kind: "broken", raw: "and more", line: 1 },
      { kind: "object", value: { b: 2 }, line: 2 },
      { kind: "broken", raw: "{bad}", line: 2 },
      { kind: "text", raw: "plain", line: 3 },
    ]);
  });

  test("is text again on the line after a broken object", () => {
    expect(kindsOf('{"a":1\nplain\n{"b":2}\n')).toBe("broken text object");
    expect(kindsOf('{"a":}\nplain')).toBe("broken text");
  });

  test("never swallows a line break inside of a string", () => {
    expect(kindsOf('{"a":"cut\n{"b":2}')).toBe("broken object");
  });

  test("is broken when it nests too deep", () => {
    expect(kindsOf(`${'{"a":'.repeat(40)}1${"}".repeat(40)}\n{"b":2}`)).toBe("broken object");
  });
});

describe("any text", () => {
  test("is given whole: every character that is no white space is in exactly one piece", () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom("{", "}", '"', "\\", "\n", "a", "1", ":", ",", " ", "[", "]", '{"a":1}', "é😀"),
          {
            maxLength: 40,
          },
        ),
        (parts) => {
          const text = parts.join("");
          const pieces = piecesOf(text);
          const given = pieces
            .map((piece) => (piece.kind === "object" ? JSON.stringify(piece.value) : piece.raw))
            .join("");
          const plain = (value: string): string => value.replaceAll(/[\s,]/g, "");
          // Objects are written anew, so only texts without a repeated name or an escape can be compared.
          const values = pieces.flatMap((piece) => (piece.kind === "object" ? [piece.value] : []));
          if (values.every((value) => JSON.stringify(value) === '{"a":1}' || JSON.stringify(value) === "{}"))
            expect(plain(given)).toBe(plain(text));
        },
      ),
      { numRuns: 500 },
    ));

  test.each([
    ["unclosed objects", '{"a":[\n'.repeat(60_000)],
    ["unclosed objects on one line", '{"a":'.repeat(100_000)],
    ["closed objects that are no JSON", '{"a"\n{"b"}\n'.repeat(60_000)],
    ["strings without an end", '{"a\n'.repeat(100_000)],
    ["empty objects on one line", "{}".repeat(300_000)],
    ["broken objects on one line", '{"a"}'.repeat(100_000)],
    ["objects with a line break in a string", '{"x":{"y":"\n"}}\n'.repeat(60_000)],
    ["an array without an end", "[".repeat(500_000)],
  ])("of %s is read to its end, in a time that the limit of a test allows", (_, text) => {
    // What is quadratic takes minutes.
    const lines = piecesOf(text).map(({ line }) => line);
    expect(lines[0]).toBe(1);
    expect(lines).toEqual(lines.toSorted((a, b) => a - b));
  });
});
