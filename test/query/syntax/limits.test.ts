import { describe, expect, test } from "bun:test";
import { QUERY_TEXT_MAX_CHARS } from "../../../query/limits.ts";
import {
  EXPRESSION_MAX_DEPTH,
  NESTING_MAX_DEPTH,
  PIPELINE_MAX_OPERATORS,
  TREE_MAX_NODES,
} from "../../../query/syntax/limits.ts";
import { parseQuery } from "../../../query/syntax/parser.ts";
import { workOf } from "./counted-work.ts";

function codes(text: string): string[] {
  return parseQuery(text).problems.map(({ code }) => code);
}

describe("what is too large is refused, what is not is read", () => {
  test("the text", () => {
    const fill = (length: number) => `T //${"x".repeat(length - 4)}`;
    expect(codes(fill(QUERY_TEXT_MAX_CHARS))).toEqual([]);
    expect(codes(fill(QUERY_TEXT_MAX_CHARS + 1))).toEqual(["TEXT_TOO_LONG"]);
  });

  test.each<[string, (depth: number) => string]>([
    ["brackets", (depth) => `${"(".repeat(depth)}x${")".repeat(depth)}`],
    ["calls", (depth) => `${"f(".repeat(depth)}x${")".repeat(depth)}`],
    ["indexes", (depth) => `${"x[".repeat(depth)}1${"]".repeat(depth)}`],
    ["lists", (depth) => `${"x in (".repeat(depth)}1${")".repeat(depth)}`],
    ["subqueries", (depth) => `${"(T | where toscalar(".repeat(depth)}T | count${"))".repeat(depth)}`],
    ["joins", (depth) => `${"T | join (".repeat(depth)}T${") on x".repeat(depth)}`],
    ["functions", (depth) => `${"let f = () { ".repeat(depth)}T${" }; f".repeat(depth)}`],
    ["JSON", (depth) => `x == dynamic(${"[".repeat(depth)}1${"]".repeat(depth)})`],
    ["expansions", (depth) => `T | ${"mv-apply x on (".repeat(depth)}count${")".repeat(depth)}`],
  ])("the depth of %s", (_, nest) => {
    expect(codes(nest(10))).toEqual([]);
    for (const depth of [NESTING_MAX_DEPTH + 1, 100, 1000, 2000])
      expect(codes(nest(depth))).toEqual(["TOO_COMPLEX"]);
  });

  test("the limit of depth is that of brackets as they are written", () => {
    const nest = (depth: number) => `${"(".repeat(depth)}x${")".repeat(depth)}`;
    expect(codes(nest(NESTING_MAX_DEPTH - 1))).toEqual([]);
    expect(codes(nest(NESTING_MAX_DEPTH))).toEqual(["TOO_COMPLEX"]);
  });

  test("chains that make deep trees", () => {
    const chain = (length: number) => Array.from({ length }, () => "x").join(" + ");
    expect(codes(chain(EXPRESSION_MAX_DEPTH))).toEqual([]);
    expect(codes(chain(EXPRESSION_MAX_DEPTH + 1))).toEqual(["TOO_COMPLEX"]);
    expect(codes(`x${".y".repeat(10_000)}`)).toEqual(["TOO_COMPLEX"]);
    expect(codes(`x${"[0]".repeat(10_000)}`)).toEqual(["TOO_COMPLEX"]);
  });

  test("operators of a pipeline and parts of a query", () => {
    expect(codes(`T${" | count".repeat(PIPELINE_MAX_OPERATORS)}`)).toEqual([]);
    expect(codes(`T${" | count".repeat(PIPELINE_MAX_OPERATORS + 1)}`)).toEqual(["TOO_COMPLEX"]);
    expect(codes(`x in (${Array.from({ length: TREE_MAX_NODES - 10 }, () => "1").join(",")})`)).toEqual([]);
    expect(codes(`x in (${Array.from({ length: TREE_MAX_NODES + 10 }, () => "1").join(",")})`)).toEqual([
      "TOO_COMPLEX",
    ]);
  });

  test("long chains of and and or are not", () => {
    for (const joint of [" or ", " and "])
      expect(codes(Array.from({ length: 5000 }, () => "x").join(joint))).toEqual([]);
  });
});

/** What costs most when it is repeated: brackets and quotes that are not closed, names that look like keywords, ... */
const HOSTILE_PIECES = [
  ...[
    "(",
    "[",
    "{",
    "a(",
    "a.",
    "- ",
    "not(",
    "a or ",
    "a + ",
    "|",
    "| where x ",
    "| foo ",
    ";",
    "let a=1;",
    "'",
    '"',
  ],
  ...[
    "@'",
    "@'\n",
    "```",
    "'\\",
    "int(",
    "datetime(",
    "dynamic([",
    "a,",
    "// \n",
    "1",
    "1e",
    "0x",
    "1.",
    "..",
    "😀",
  ],
  ...[
    "in(",
    "(T|",
    "project-",
    "a-",
    "*",
    "a*",
    "a:",
    "a:b-",
    "{}",
    "mv-apply x on (",
    "let f=(){",
    "between(",
    "!in",
  ],
  ...[
    "datatable(a:long)[",
    "1,",
    "a b ",
    "T|scan ",
    "a[0]",
    "(a)=",
    "(a,b)=",
    "['a']",
    "'a'",
    ")",
    "([)]",
    "(((]]]",
  ],
  ...[
    "toscalar(",
    "T|join (",
    "\n",
    "\t\t \n",
    "/",
    "$",
    "a\u200b",
    "'a' and ",
    "not('a') and ",
    "T|render x a=1 ",
    "set a;",
  ],
];

describe("the work grows with the length of the text", () => {
  test.each(HOSTILE_PIECES.map((piece) => [piece]))("%j", (piece) => {
    const cost = (length: number): number =>
      workOf(() => parseQuery(piece.repeat(Math.floor(length / piece.length))));
    const [short, long] = [cost(QUERY_TEXT_MAX_CHARS / 8), cost(QUERY_TEXT_MAX_CHARS)];
    // Eight times the text: a quadratic reader would do 64 times as much.
    expect(long / short).toBeLessThan(16);
  });
});
