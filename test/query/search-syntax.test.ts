import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseSearch, type SearchCondition } from "../../query/index.ts";

/** A condition in brackets: `(and a (not b))`. */
function show(condition: SearchCondition | null): string {
  if (condition === null) return "everything";
  switch (condition.kind) {
    case "text":
      return condition.text;
    case "not":
      return `(not ${show(condition.operand)})`;
    case "all":
      return `(and ${condition.operands.map(show).join(" ")})`;
    case "any":
      return `(or ${condition.operands.map(show).join(" ")})`;
  }
}

function parse(text: string): string {
  const parsed = parseSearch(text);
  return parsed.ok ? show(parsed.condition) : parsed.error.code;
}

describe("q", () => {
  const cases: [string, string][] = [
    ["", "everything"],
    [" \t\n\u00a0", "everything"],
    ["word", "word"],
    ["two words", "(and two words)"],
    ['"a phrase"', "a phrase"],
    ['"  spaces  kept "', "  spaces  kept "],
    ['say "hello there" now', "(and say hello there now)"],
    ['"he said \\"no\\""', 'he said "no"'],
    ['"C:\\new\\dir"', "C:\\new\\dir"],
    ['"a\\\\b"', "a\\\\b"],
    ['"not closed', "not closed"],
    ['key="value one"', '(and key="value one")'],
    ['"a""b"', "(and a b)"],
    ['""', "everything"],
    ['a ""', "a"],
    ['a OR ""', "(and a OR)"],
    ["-word", "(not word)"],
    ['-"a phrase"', "(not a phrase)"],
    ["--flag", "(not -flag)"],
    ["-", "-"],
    ["a - b", "(and a - b)"],
    ["well-known", "well-known"],
    ["a OR b", "(or a b)"],
    ["a b OR c d", "(or (and a b) (and c d))"],
    ["a OR b OR c", "(or a b c)"],
    ["a OR -b", "(or a (not b))"],
    ["a or b", "(and a or b)"],
    ["OR", "OR"],
    ["OR a", "(and OR a)"],
    ["a OR", "(and a OR)"],
    ["a OR OR b", "(or a (and OR b))"],
    ['a "OR" b', "(and a OR b)"],
    ["a -OR b", "(and a (not OR) b)"],
    ["sshd(pam_unix)[19939]:", "sshd(pam_unix)[19939]:"],
    ["(a b)", "(and (a b))"],
    ["%_\\*?", "%_\\*?"],
  ];
  test.each(cases)("%j", (text, expected) => {
    expect(parse(text)).toBe(expected);
  });

  test("is refused beyond its limits, and nowhere below", () => {
    expect(parse("😀".repeat(1024))).toBe("😀".repeat(1024));
    expect(parse("a".repeat(1025))).toBe("TEXT_TOO_LONG");
    expect(parse(Array.from({ length: 64 }, () => "a").join(" "))).toStartWith("(and a a");
    expect(parse(Array.from({ length: 65 }, () => "a").join(" "))).toBe("TOO_MANY_TERMS");
  });

  test("has a meaning whatever it is, and its terms stand where their spans say", () => {
    const piece = fc.oneof(
      fc.constantFrom('"', "-", "OR", " ", "\\", '\\"', "a", "(", ")", "\t", "😀", "\ud800"),
      fc.string({ unit: "binary", maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join("");
        const parsed = parseSearch(text);
        if (!parsed.ok) return expect(parsed.error.code).toBe("TOO_MANY_TERMS");
        const check = (condition: SearchCondition): void => {
          if (condition.kind === "not") check(condition.operand);
          else if (condition.kind === "all" || condition.kind === "any") {
            expect(condition.operands.length).toBeGreaterThan(1);
            condition.operands.forEach(check);
          } else {
            expect(condition.text).not.toBe("");
            const source = text.slice(condition.span.start, condition.span.end);
            expect(
              [source, source.replaceAll('\\"', '"')].some((shown) => shown.includes(condition.text)),
            ).toBe(true);
          }
        };
        if (parsed.condition !== null) check(parsed.condition);
      }),
    );
  });
});
