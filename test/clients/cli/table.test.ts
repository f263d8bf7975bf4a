import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { makeColors } from "../../../clients/cli/terminal/colors.ts";
import { escapeControlsInCell } from "../../../clients/cli/terminal/escape-controls.ts";
import { formatTable, type Table } from "../../../clients/cli/terminal/table.ts";
import { cutToWidth, padToWidth, textWidth } from "../../../clients/cli/terminal/text-width.ts";

const plain = makeColors(false);

const piece = fc.oneof(
  fc.constantFrom(
    "日本語",
    "\u{1f600}",
    "\u{1f469}\u200d\u{1f680}",
    "e\u0301",
    "\u200b",
    "\ud800",
    "\t",
    "\n",
    "\u001b[31m",
    "a b",
  ),
  fc.string({ unit: "grapheme" }),
);
const text = fc.array(piece, { maxLength: 8 }).map((pieces) => escapeControlsInCell(pieces.join("")));

function table(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  numeric: readonly number[] = [],
): Table {
  return {
    columns: headers.map((header, i) => ({
      header,
      align: numeric.includes(i) ? "right" : "left",
      isRigid: numeric.includes(i),
    })),
    rows,
  };
}

describe("a text is cut", () => {
  test("to the width it has, and never inside a character", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 30 }), (whole, width) => {
        const cut = cutToWidth(whole, width);
        expect(textWidth(cut)).toBeLessThanOrEqual(width);
        if (cut === whole) return;
        expect(cut.endsWith("\u2026")).toBe(true);
        const graphemes = [...new Intl.Segmenter("en").segment(whole)].map(({ segment }) => segment);
        const kept = [...new Intl.Segmenter("en").segment(cut.slice(0, -1))].map(({ segment }) => segment);
        expect(graphemes.slice(0, kept.length)).toEqual(kept);
      }),
      { numRuns: 500 },
    );
  });

  test("where a wide character would not fit whole", () => {
    expect(cutToWidth("日本語", 6)).toBe("日本語");
    expect(cutToWidth("日本語", 5)).toBe("日本\u2026");
    expect(cutToWidth("日本語", 4)).toBe("日\u2026");
    expect(cutToWidth("\u{1f469}\u200d\u{1f680}\u{1f469}\u200d\u{1f680}", 3)).toBe(
      "\u{1f469}\u200d\u{1f680}\u2026",
    );
  });

  test("quickly when it is very long", () => {
    expect(cutToWidth("x".repeat(50_000_000), 10)).toBe(`${"x".repeat(9)}\u2026`);
  });
});

test("a text is filled up by what it shows, not by its code units", () => {
  expect(padToWidth("日本", 6, "left")).toBe("日本  ");
  expect(padToWidth("e\u0301", 3, "right")).toBe("  e\u0301");
});

describe("a table", () => {
  test("is as wide as the terminal at most, with its columns one below the other", () => {
    const cells = fc.integer({ min: 1, max: 6 }).chain((count) =>
      fc.record({
        headers: fc.array(text, { minLength: count, maxLength: count }),
        rows: fc.array(fc.array(text, { minLength: count, maxLength: count }), { maxLength: 6 }),
      }),
    );
    fc.assert(
      fc.property(cells, fc.integer({ min: 10, max: 120 }), ({ headers, rows }, width) => {
        for (const line of formatTable(table(headers, rows), width, plain))
          expect(textWidth(line)).toBeLessThanOrEqual(width);
      }),
      { numRuns: 500 },
    );
  });

  test("puts numbers on the right and shows them whole; the longest text gives way", () => {
    const lines = formatTable(
      table(
        ["service", "n", "message"],
        [
          ["web", "5", "a message that is too long for this"],
          ["日本", "12345678", "short"],
        ],
        [1],
      ),
      40,
      plain,
    );
    expect(lines).toEqual([
      "service         n  message",
      "web             5  a message that is to\u2026",
      "日本     12345678  short",
    ]);
  });

  test("becomes blocks of lines where its columns do not fit", () => {
    const lines = formatTable(
      table(["time", "service", "message"], [["t".repeat(20), "web", "m".repeat(40)]], [0]),
      30,
      plain,
    );
    expect(lines).toEqual([
      "-- 1 --",
      `time     ${"t".repeat(20)}`,
      "service  web",
      `message  ${"m".repeat(20)}\u2026`,
    ]);
  });

  test("loses nothing where nothing limits it", () => {
    const long = "m".repeat(5000);
    const lines = formatTable(
      table(
        ["a", "b"],
        [
          [long, "x"],
          ["y", "z"],
        ],
      ),
      null,
      plain,
    );
    expect(lines).toEqual([`a${" ".repeat(61)}b`, `${long}  x`, `y${" ".repeat(61)}z`]);
  });

  test("of no rows is its header", () => {
    expect(formatTable(table(["a", "b"], []), 80, plain)).toEqual(["a  b"]);
  });
});
