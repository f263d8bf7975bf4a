import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LEVEL_NUMBERS } from "../../../ingest/log-batch.ts";
import { LEVEL_WORDS, levelOfBytes, levelOfNumber, levelOfText } from "../../../ingest/record/levels.ts";

const encoder = new TextEncoder();

function ofBytes(text: string): string | null {
  const bytes = encoder.encode(`[${text}]`);
  return levelOfBytes(bytes, 1, bytes.length - 1);
}

describe("words for levels", () => {
  test("each is one in any case, as text and as bytes", () => {
    expect(LEVEL_WORDS.length).toBeGreaterThan(50);
    for (const word of LEVEL_WORDS)
      for (const written of [word, word.toUpperCase(), (word[0] ?? "").toUpperCase() + word.slice(1)])
        expect([written, ofBytes(written), levelOfText(written)]).toEqual([
          written,
          levelOfText(word),
          levelOfText(word),
        ]);
  });

  test("begin with the names of the product's levels", () => {
    expect(LEVEL_WORDS.slice(0, 6)).toEqual(Object.keys(LEVEL_NUMBERS));
    for (const name of Object.keys(LEVEL_NUMBERS)) expect(String(levelOfText(name))).toBe(name);
  });

  test("of Go's slog may have an offset", () => {
    expect([
      levelOfText("ERROR+2"),
      levelOfText("DEBUG-4"),
      levelOfText("+2"),
      levelOfText("ERROR+"),
    ]).toEqual(["error", "debug", null, null]);
  });

  test("no other text is one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 20 }), (text) => {
        if (LEVEL_WORDS.includes(text.toLowerCase())) return;
        expect(ofBytes(text)).toBeNull();
      }),
    );
    for (const text of ["", "3", "errors", "info ", "\u0129nfo", "constructor"])
      expect(ofBytes(text)).toBeNull();
  });
});

test.each([
  ["bunyan", [10, 20, 30, 40, 50, 60], ["trace", "debug", "info", "warn", "error", "fatal"]],
  ["python", [10, 20, 30, 40, 50], ["debug", "info", "warn", "error", "fatal"]],
  ["syslog", [0, 2, 3, 4, 5, 6, 7], ["fatal", "fatal", "error", "warn", "info", "info", "debug"]],
  ["otlp", [1, 5, 9, 13, 17, 21, 24], ["trace", "debug", "info", "warn", "error", "fatal", "fatal"]],
] as const)("numbers of %s mean a level, and others none", (scale, numbers, levels) => {
  expect(numbers.map((number) => levelOfNumber(number, scale))).toEqual([...levels]);
  for (const number of [-1, 70, 25, 1e9]) expect(levelOfNumber(number, scale)).toBeNull();
});
