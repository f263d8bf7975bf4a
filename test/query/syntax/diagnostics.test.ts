import { describe, expect, test } from "bun:test";
import { parseQuery } from "../../../query/syntax/parser.ts";

/** Every problem as `code «place» message [-> suggestion]`. */
function problems(text: string): string[] {
  return parseQuery(text).problems.map(({ code, message, span, suggestion }) => {
    const place = text.slice(span.start, span.end);
    return `${code} «${place}» ${message}${suggestion === null ? "" : ` -> ${suggestion}`}`;
  });
}

describe("a slip is named, and what was meant", () => {
  test.each([
    [
      "T | where x = 5",
      "SYNTAX «=» Found `=`, expected `|` or the end after where. To compare, write ==. -> ==",
    ],
    [
      "level = 'error'",
      "SYNTAX «=» Found `=`, expected `|` or the end after the query. To compare, write ==. -> ==",
    ],
    ["T | where x && y", "SYNTAX «&&» Found `&&`, expected `|` or the end after where. Write and. -> and"],
    ["T | where x || y", "SYNTAX «||» Found `||`, expected `|` or the end after where. Write or. -> or"],
    ["T | where !x", "SYNTAX «!» Found `!`, expected a value. Write not(...). -> not"],
    ["T | where not x", "SYNTAX «not» not is a function: not(...). -> not(...)"],
    [
      "x == 1 AND y == 2",
      "SYNTAX «AND» Found `AND`, expected `|` or the end after the query. Keywords are lower case: and. -> and",
    ],
    [
      "T | where x is null",
      "SYNTAX «is» Found `is`, expected `|` or the end after where. Write isnull(...) or isnotnull(...). -> isnull",
    ],
    [
      "T | WHERE x",
      "UNKNOWN_OPERATOR «WHERE» There is no operator `WHERE`. Operators are lower case: where. -> where",
    ],
    [
      "WHERE x == 1",
      "UNKNOWN_OPERATOR «WHERE» There is no operator `WHERE`. Operators are lower case: where. -> where",
    ],
    [
      "T | sumarize count()",
      "UNKNOWN_OPERATOR «sumarize» There is no operator `sumarize`. Did you mean summarize? -> summarize",
    ],
    [
      "T | project-remove x",
      "UNKNOWN_OPERATOR «project-remove» There is no operator `project-remove`. Did you mean project-rename? -> project-rename",
    ],
    ["T | frobnicate x", "UNKNOWN_OPERATOR «frobnicate» There is no operator `frobnicate`."],
    ["T | where x == 1 take 5", "SYNTAX «take» A `|` is missing in front of take. -> | take"],
    [
      "connection refused",
      'SYNTAX «refused» Found `refused` behind a name. To search for words, put them in quotes. -> "connection refused"',
    ],
    [
      "level:error host:web",
      "SYNTAX «host» Found `host`; two conditions need `and` or `or` between them. -> and",
    ],
    ["T | sort x", "SYNTAX «x» Found `x`, expected `by` and a column: sort by column desc."],
    ["T | take 5 10", "SYNTAX «10» Found `10`, expected `|` or the end after take."],
    ["T | extend x =", "SYNTAX «» The query ends here, expected a value."],
    ["T |", "SYNTAX «» The query ends here, expected an operator such as where or summarize."],
    ["", "SYNTAX «» The query is empty."],
    ["// nothing", "SYNTAX «» The query is empty."],
    ["let x = 1;", "SYNTAX «» The query only names things; an expression that uses them must follow."],
    ["T; U", "UNSUPPORTED «U» A query answers one table; this is a second one."],
    [
      "declare query_parameters(x: long); T",
      "UNSUPPORTED «declare» declare query_parameters is not supported.",
    ],
    [
      "cluster('a').database('b').T",
      "UNSUPPORTED «database» database() behind a dot is not supported: other clusters and databases are out of reach.",
    ],
    ["T | join U where a == b", "UNSUPPORTED «where» join ... where is not supported; write on. -> on"],
  ])("%s", (text, expected) => {
    expect(problems(text)).toEqual([expected]);
  });
});

describe("what is not closed is shown where it opens", () => {
  test.each([
    ["T | where (x == 1", "SYNTAX «(» This ( is not closed."],
    ["T | where f(x, (1 + 2)", "SYNTAX «(» This ( is not closed."],
    ["(T | count", "SYNTAX «(» This ( is not closed."],
    ["T | where x in (1, 2", "SYNTAX «(» This ( is not closed."],
    ["T | where x == dynamic([1, 2)", "SYNTAX «[» This [ is not closed."],
    ["let f = () { T", "SYNTAX «{» This { is not closed."],
    ["T | where x == 'abc", "SYNTAX «'abc» The text is not closed with ' on its line."],
    ["T | where x == 'abc\n| count", "SYNTAX «'abc» The text is not closed with ' on its line."],
    ["T | where x == 1)", "SYNTAX «)» This ) closes nothing."],
  ])("%s", (text, expected) => {
    expect(problems(text)).toEqual([expected]);
  });
});

describe("several problems are told at once, in their order", () => {
  test("one of every operator", () => {
    expect(
      problems("T | where x = 5 | foo | take 5 | where y = 6").map((line) => line.split(" ")[1]),
    ).toEqual(["«=»", "«foo»", "«=»"]);
  });

  test("inside brackets and behind them", () => {
    expect(problems("T | join (U | foo | where x = 1) on a | bar").map((line) => line.split(" ")[1])).toEqual(
      ["«foo»", "«=»", "«bar»"],
    );
    expect(problems("let f = () { T | foo }; f | bar").map((line) => line.split(" ")[1])).toEqual([
      "«foo»",
      "«bar»",
    ]);
  });

  test("of every statement", () => {
    expect(problems("let a = ; let b = 1 +; T | foo").map((line) => line.split(" ")[1])).toEqual([
      "«;»",
      "«;»",
      "«foo»",
    ]);
  });

  test("but not more than help", () => {
    expect(problems(`T${" | foo".repeat(50)}`)).toHaveLength(20);
  });
});

test("long words are cut in messages", () => {
  expect(problems(`T | ${"x".repeat(500)}`)[0]?.length).toBeLessThan(700);
  expect(parseQuery(`T | ${"x".repeat(500)}`).problems[0]?.message).toBe(
    `There is no operator \`${"x".repeat(40)}...\`.`,
  );
});
