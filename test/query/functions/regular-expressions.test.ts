import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { readRegex } from "../../../query/functions/regex-syntax.ts";
import { RegexSyntaxError } from "../../../query/functions/regex-tokens.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { complaintAbout } from "./answers.ts";
import { type Case, wrongCases } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

async function expectValues(cases: readonly Case[]): Promise<void> {
  expect(await wrongCases(queryRunner(stores), cases)).toEqual([]);
}

test("a pattern matches anywhere, minds the case, and its classes know every script", () =>
  expectValues([
    ["'error 42' matches regex @'r \\d+'", true],
    ["'Error' matches regex 'error'", false],
    ["'Error' matches regex '(?i)eRROR'", true],
    ["'１２' matches regex @'^\\d+$'", true],
    ["'naïve' matches regex @'^\\w+$'", true],
    ["'a\u00a0b' matches regex @'^a\\sb$'", true],
    ["'a\u00a0b' matches regex @'^a[\\S]b$'", false],
    ["'a-b' matches regex @'^[\\w-]+$'", true],
    ["'a.b' matches regex @'^\\w[\\W_]\\w$'", true],
    ["'' matches regex ''", true],
    ["not('abc' matches regex 'd')", true],
  ]));

test("a dot is no end of a line unless the pattern says so, and $ is the end of the text", () =>
  expectValues([
    ["'a\\nb' matches regex 'a.b'", false],
    ["'a\\nb' matches regex '(?s)a.b'", true],
    ["'a\\nb' matches regex '(?s:a.)b'", true],
    ["'a\\nb' matches regex 'a$'", false],
    ["'a\\nb' matches regex '(?m)a$'", true],
    ["'a\\nb' matches regex '(?m)^b'", true],
    ["'ab' matches regex '(?x) a  b # two letters'", true],
    ["'a' matches regex '(?-i:A)'", false],
  ]));

test("extract gives the text of a group, and nothing without a match", () =>
  expectValues([
    ["extract(@'x=(\\d+)', 1, 'x=45 y=6')", "45"],
    ["extract('x=[0-9]+', 0, 'x=45')", "x=45"],
    ["extract('(a)|(b)', 2, 'a')", ""],
    ["extract('(z)', 1, 'a')", ""],
    ["extract('(.*)', 1, dynamic(null))", ""],
    ["extract('(\\\\d+)', 1, 'n 12', typeof(long))", 12],
    ["extract_all(@'(\\d+)', 'a 12 b 3')", ["12", "3"]],
    [
      "extract_all('([a-z])([0-9])?', 'a1b')",
      [
        ["a", "1"],
        ["b", ""],
      ],
    ],
    ["extract_all('(z)', 'abc')", null],
    [
      "extract_all('(?P<first>[a-z])([0-9])', dynamic([2, 'first']), 'a1b2')",
      [
        ["1", "a"],
        ["2", "b"],
      ],
    ],
    ["extract_all('([a-z])([0-9])', dynamic([2]), 'a1b2')", ["1", "2"]],
  ]));

test("replacements name groups by number, and any other backslash is one", () =>
  expectValues([
    ["replace_regex('one two', @'(\\w+) (\\w+)', @'\\2 \\1')", "two one"],
    ["replace_regex('abc', 'b', @'[\\0]')", "a[b]c"],
    ["replace_regex('a.b', '[.]', @'\\')", "a\\b"],
    ["replace_regex('a.b', '[.]', @'\\\\7')", "a\\7b"],
    ["replace_regex('a.b', '[.]', strcat(@'\\', 'x', @'\\7'))", "a\\x\\7b"],
    ["replace_regex('a.b', '([.])', strcat(@'<\\1', '>'))", "a<.>b"],
    ["replace('b+', 'x', 'abbc')", "axc"],
    ["replace_regex('', 'b', 'x')", ""],
    ["regex_quote('a.b*[c]')", "a\\.b\\*\\[c\\]"],
    ["regex_quote('')", ""],
  ]));

test("trim takes one match away at each end", () =>
  expectValues([
    ["trim(@'\\s+', '  a b\\t')", "a b"],
    ["trim('x', 'xxaxx')", "xax"],
    ["trim('x', 'x')", ""],
    ["trim_start('a|b', 'abab')", "bab"],
    ["trim_end('(?i)A', 'bAA')", "bA"],
    ["trim(@'[^\\w]+', '--é--')", "é"],
    ["trim('x', '')", ""],
  ]));

test("matches are counted and found one behind the other", () =>
  expectValues([
    ["countof('a1b22', @'\\d+', 'regex')", 2],
    ["countof('', 'a', 'regex')", 0],
    ["indexof_regex('ééabc', '[a-c]')", 2],
    ["indexof_regex('abcabcdefg', 'a.c', 0, 9, 2)", 3],
    ["indexof_regex('abcabc', 'a.c', 1, -1, 2)", -1],
    ["indexof_regex('ababaa', 'a.a', 0, -1, 2)", -1],
    ["indexof_regex('abc', 'b', 0, -2)", null],
    ["indexof_regex('abc', 'b', -1)", null],
  ]));

test("a pattern that cannot be honoured is refused with the reason", () => {
  const reasons = {
    "(?=a)": "look-around",
    "(?<!a)b": "look-around",
    "(a)\\1": "references",
    "a[b": "[ without its ]",
    "(a": "( without its )",
    "a)": ") without its (",
    "*a": "nothing for * to repeat",
    "[a&&b]": "&&",
    "[[a]]": "brackets in brackets",
    "[z-a]": "wrong order",
    "a{3,1}": "wrong order",
    "(a{100}){100}": "more than 1000",
    "\\w{900}": "too large",
    "\\q": "\\q",
    "\\p{Klingon}": "\\p{Klingon}",
    "a\\": "ends with a backslash",
    "(?<n>a)(?<n>b)": "two groups",
    "(?Z)a": "(?",
    "a(?s)*": "nothing to repeat",
  };
  for (const [pattern, reason] of Object.entries(reasons))
    expect(complaintAbout(`print countof('a', @'${pattern}', 'regex')`)?.message, pattern).toContain(reason);
  expect(complaintAbout("print extract_all('a', 'a')")?.message).toContain("no group");
  expect(complaintAbout("print replace_regex('a', 'a', @'\\1')")?.message).toContain("no group");
  expect(complaintAbout("print countof('a', 'a', 'glob')")?.message).toContain("regex");
});

test("operators and extract() refuse like every other function what cannot be honoured", () => {
  expect(complaintAbout("print 'a' matches regex '(?=a)'")?.message).toContain("look-around");
  expect(complaintAbout("print extract('(a)', 2, 'a')")?.message).toContain("no group 2");
  expect(complaintAbout("print x = 'a' | where 'a' matches regex x")?.message).toContain("constant");
});

test("the text that every match holds is found, and only where it is certain", () => {
  const required = (pattern: string) => readRegex(pattern).requiredText;
  expect(required("connection (reset|refused) by peer")).toBe("connection ");
  expect(required("abc|abd")).toBe("");
  expect(required("(?i)abc")).toBe("");
  expect(required("ab*c?defg")).toBe("defg");
  expect(required("a{0}xyz")).toBe("xyz");
});

test("no pattern that is accepted makes the store fail", async () => {
  const piece = fc.constantFrom(
    ..."ab1é.^$|()[]{}*+?\\-,:<>P=!&~#_ ".split(""),
    ..."(?i) (?s: (?x) (?U) \\d \\w \\W \\S \\b \\A \\x41 \\p{L} [\\w- [^\\s {2} {1,}".split(" "),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(piece, { maxLength: 10 }), { minLength: 40, maxLength: 40 }),
      async (many) => {
        const accepted = many.map((pieces) => pieces.join("")).filter(isAccepted);
        const columns = accepted.flatMap((pattern): Case[] => {
          const quoted = JSON.stringify(pattern);
          return [
            [`isnotnull('ab1 é' matches regex ${quoted})`, true],
            [`isnotnull(strlen(trim(${quoted}, 'ab1 é')) + countof('ab1 é', ${quoted}, 'regex'))`, true],
          ];
        });
        await expectValues(columns);
      },
    ),
    { numRuns: 15 },
  );
});

function isAccepted(pattern: string): boolean {
  try {
    readRegex(pattern);
    return true;
  } catch (error) {
    if (error instanceof RegexSyntaxError) return false;
    throw error;
  }
}
