import { expect, test } from "bun:test";
import fc from "fast-check";
import { RecentTexts } from "../../../ingest/native/recent-texts.ts";

test("a text is that of its bytes, whatever came before it under the same hash", () => {
  const text = fc.oneof(
    fc.constantFrom("", "a", "b", "ab", "host", "\ufeff", "é".repeat(40)),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(text, fc.constantFrom(0, 1, 1024, 0xffff_ffff)), { maxLength: 40 }),
      fc.nat(3),
      (texts, offset) => {
        const recent = new RecentTexts();
        const source = new Uint8Array(1024);
        for (const [text, hash] of texts) {
          const bytes = new TextEncoder().encode(text);
          // The same memory is written to again and again.
          source.set(bytes, offset);
          const expected = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
          expect(recent.textOf(source, offset, offset + bytes.length, hash)).toBe(expected);
        }
      },
    ),
  );
});
