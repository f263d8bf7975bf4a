import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { lex } from "../../../query/syntax/lex.ts";
import { queryTexts } from "./query-texts.ts";

/** Kind and text of every token but the end; of strings and typed literals what is inside. */
function tokens(text: string): string[] {
  return lex(text)
    .slice(0, -1)
    .map(({ kind, text: written, value }) =>
      kind === "string" ? `string ${value}` : kind === "typed" ? `${written} ${value}` : `${kind} ${written}`,
    );
}

function problems(text: string): (string | null)[] {
  return lex(text).map(({ problem }) => problem);
}

describe("any text has tokens", () => {
  test("they stand in order, inside the text, and end with the end", () => {
    fc.assert(
      fc.property(queryTexts(), (text) => {
        const found = lex(text);
        let end = 0;
        for (const { kind, span } of found) {
          expect(span.start).toBeGreaterThanOrEqual(end);
          expect(span.end).toBeGreaterThanOrEqual(span.start + (kind === "end" ? 0 : 1));
          end = span.end;
        }
        expect(found.at(-1)).toMatchObject({ kind: "end", span: { start: text.length, end: text.length } });
      }),
    );
  });

  test("what no token covers is white space or a comment", () => {
    fc.assert(
      fc.property(queryTexts(), (text) => {
        let end = 0;
        for (const { span } of lex(text)) {
          expect(text.slice(end, span.start)).toMatch(/^(?:\s|\u180e|\u200b|\/\/[^\n\r\u2028\u2029]*)*$/);
          end = span.end;
        }
      }),
    );
  });

  test("a character without a meaning is one token, whole", () => {
    expect(tokens("a # 😀 §")).toEqual(["name a", "unknown #", "unknown 😀", "unknown §"]);
    expect(problems("😀")[0]).toBe('The character "😀" has no meaning here.');
  });
});

describe("names", () => {
  test("are letters of any script, digits and underscores; a dollar sign may begin one", () => {
    expect(tokens("a _b c1 Größe имя $left 2hx 1e5x")).toEqual(
      ["a", "_b", "c1", "Größe", "имя", "$left", "2hx", "1e5x"].map((name) => `name ${name}`),
    );
  });

  test("hold a hyphen only where the language has such a keyword", () => {
    expect(tokens("project-away mv-expand graph-shortest-paths execute-and-cache granny-asc")).toHaveLength(
      5,
    );
    expect(tokens("a-b")).toEqual(["name a", "symbol -", "name b"]);
    expect(tokens("project-awaylike")).toEqual(["name project", "symbol -", "name awaylike"]);
    expect(tokens("top-nested-x")).toEqual(["name top", "symbol -", "name nested", "symbol -", "name x"]);
  });

  test("in~ and the operators with an exclamation mark are one token", () => {
    expect(tokens("in~ !in !in~ !has_cs !between !contains !foo ! has")).toEqual([
      "name in~",
      "symbol !in",
      "symbol !in~",
      "symbol !has_cs",
      "symbol !between",
      "symbol !contains",
      "symbol !",
      "name foo",
      "symbol !",
      "name has",
    ]);
  });
});

describe("texts", () => {
  test.each([
    [`'a'`, "a"],
    [`"a"`, "a"],
    [`'a"b'`, `a"b`],
    [`"it's"`, "it's"],
    [String.raw`"\n\t\r\\\"\'\a\b\f\v"`, "\n\t\r\\\"'\u0007\b\f\v"],
    [String.raw`"\u00e9\x41\U0001F600\101\0"`, "éA😀A\0"],
    [`@'C:\\temp'`, "C:\\temp"],
    [`@'it''s'`, "it's"],
    [`@"say ""hi"""`, `say "hi"`],
    [`h'secret'`, "secret"],
    [`H@"a\\b"`, "a\\b"],
    ["```a\n'b' \\n```", "a\n'b' \\n"],
    ["~~~x~~~", "x"],
    ["h```x```", "x"],
    [`""`, ""],
    [`@""`, ""],
  ])("%s", (text, value) => {
    expect(lex(text)).toMatchObject([
      { kind: "string", value, problem: null, span: { end: text.length } },
      {},
    ]);
  });

  test("an h without a quote is a name", () => {
    expect(tokens("h 'x' hx h1")).toEqual(["name h", "string x", "name hx", "name h1"]);
  });

  test("one that is not closed ends with its line and says so", () => {
    const [first, second] = lex("'abc\nx");
    expect(first).toMatchObject({ value: "abc", problem: "The text is not closed with ' on its line." });
    expect(second).toMatchObject({ kind: "name", text: "x" });
    expect(problems(`@"abc`)[0]).toBe('The text is not closed with " on its line.');
    expect(problems("```abc\n")[0]).toBe("The text is not closed with ```.");
    expect(lex("'abc\\\nx").map(({ kind }) => kind)).toEqual(["string", "name", "end"]);
  });

  test("an unknown escape is a problem of the text", () => {
    expect(problems(`"C:\\qemp"`)[0]).toContain("\\q is no escape");
    expect(problems(String.raw`"\U00110000"`)[0]).toContain("is no escape");
    expect(problems(String.raw`"\u12"`)[0]).toContain("is no escape");
  });
});

describe("numbers and timespans", () => {
  test("are told apart", () => {
    expect(tokens("1 0x1F 1.5 1e3 1.5e-3 1. 2d 1.5h 100ms 10tick 3minutes")).toEqual([
      "long 1",
      "long 0x1F",
      "real 1.5",
      "real 1e3",
      "real 1.5e-3",
      "real 1.",
      "timespan 2d",
      "timespan 1.5h",
      "timespan 100ms",
      "timespan 10tick",
      "timespan 3minutes",
    ]);
  });

  test("a range of two is no real", () => {
    expect(tokens("1..5")).toEqual(["long 1", "symbol ..", "long 5"]);
    expect(tokens("1d..2d")).toEqual(["timespan 1d", "symbol ..", "timespan 2d"]);
    expect(tokens("x[1].y")).toEqual(["name x", "symbol [", "long 1", "symbol ]", "symbol .", "name y"]);
  });
});

describe("literals with their type in front", () => {
  test("hold a body that is no expression", () => {
    expect(
      tokens("datetime(2020-01-01 10:00) time(1.02:03:04) guid(a-b) int( null ) datetime('2020')"),
    ).toEqual(["datetime 2020-01-01 10:00", "time 1.02:03:04", "guid a-b", "int null", "datetime '2020'"]);
  });

  test("without a bracket, or with calls inside, the type is a name", () => {
    expect(tokens("long")).toEqual(["name long"]);
    expect(tokens("int(f(x))")[0]).toBe("name int");
    expect(tokens("datetime (2020)")[0]).toBe("name datetime");
  });
});

test("comments are no tokens, an address in a text is no comment", () => {
  expect(tokens("a // b | c\n| d // e")).toEqual(["name a", "symbol |", "name d"]);
  expect(tokens("'http://x' a")).toEqual(["string http://x", "name a"]);
});
