import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { tryParseJson } from "../../../ingest/decode/json-body.ts";
import { decodeLenient } from "../../../ingest/decode/lenient-text.ts";

describe("a JSON text", () => {
  test("is the value that JSON.parse makes of it, short or long", () =>
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.boolean(), (text, isLong) => {
        const padded = isLong ? text + " ".repeat(70_000) : text;
        expect(JSON.stringify(tryParseJson(padded, 32))).toBe(
          JSON.stringify({ ok: true, value: JSON.parse(text) }),
        );
      }),
    ));

  test.each([1, 70_000])(
    "that nests deeper than it may is refused, and at the bound it is not (%d)",
    (padding) => {
      const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth) + " ".repeat(padding);
      expect(tryParseJson(nested(32), 32)).toMatchObject({ ok: true });
      expect(tryParseJson(nested(33), 32)).toEqual({ ok: false, reason: "nests deeper than 32 levels" });
      const text = JSON.stringify({ a: `${"[".repeat(50)}"\\` }) + " ".repeat(padding);
      expect(tryParseJson(text, 1)).toMatchObject({ ok: true });
    },
  );

  test("of more values than can be held is refused before it is parsed", () => {
    expect(tryParseJson(`[${"[],".repeat(4_000_000)}1]`, 32)).toMatchObject({
      ok: false,
      reason: expect.stringContaining("values"),
    });
  });
});

describe("text of an unknown encoding", () => {
  test.each([
    ["gr\xfc\xdfe", "grüße"],
    ["\xff\xfe", "ÿþ"],
    ["\xc3", "Ã"],
    ["a\xe2\x82", "aâ\x82"],
    ["\xe2\x82\xac\xa4", "€¤"],
  ])("bytes %p are %p", (latin1, expected) => {
    const bytes = Buffer.from(`<${latin1}>`, "latin1");
    expect(decodeLenient(bytes, 1, bytes.length - 1)).toBe(expected);
  });
});
