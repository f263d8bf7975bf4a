import { describe, expect, test } from "bun:test";
import { lineAndColumn, parseQuery } from "../../../query/syntax/parser.ts";
import type { Expression, Query } from "../../../query/syntax/tree.ts";
import { write, writeOperator, writeQuery } from "./kql-notation.ts";

function parsed(text: string): Query {
  const { query, problems } = parseQuery(text);
  expect(problems).toEqual([]);
  if (query === null) throw new Error("no query and no problem");
  return query;
}

/** The query with every operation in brackets. */
function bracketed(text: string): string {
  return writeQuery(parsed(text));
}

describe("operators from loose to tight", () => {
  test.each([
    ["a or b and c", "(a or (b and c))"],
    ["a and b or c and d", "((a and b) or (c and d))"],
    ["a == b and c != d", "((a == b) and (c != d))"],
    ["a <> b", "(a != b)"],
    ["a + b == c * d", "((a + b) == (c * d))"],
    ["a < b == c", "((a < b) == c)"],
    ["a - b - c", "((a - b) - c)"],
    ["a / b * c % d", "(((a / b) * c) % d)"],
    ["a + b contains 'x'", '(a + (b contains "x"))'],
    ["a has 'x' and b", '((a has "x") and b)'],
    ["-a * b", "((-a) * b)"],
    ["-a.b[0]", "(-a.b[0])"],
    ["a == -1", "(a == (-1))"],
    ["a in (1, 2) and b", "((a in (1, 2)) and b)"],
    ["a + 1 in (1)", "((a + 1) in (1))"],
    ["a between (1 .. 2 + 3)", "(a between (1 .. (2 + 3)))"],
    ["a !between (1..2) or b", "((a !between (1 .. 2)) or b)"],
    ["a matches regex 'x' + 'y'", '((a matches regex "x") + "y")'],
    ["(a or b) and c", "((a or b) and c)"],
    ["not(a) and b", "(not(a) and b)"],
    ["a has_any ('x', 'y')", '(a has_any ("x", "y"))'],
    ["* has 'x'", '(* has "x")'],
    ["a =~ 'x'", '(a =~ "x")'],
    ["a notcontains 'x'", '(a !contains "x")'],
  ])("%s", (text, expected) => {
    expect(bracketed(text)).toBe(expected);
  });

  test("comparisons and operators of strings do not chain", () => {
    for (const text of ["a == b == c", "a < b < c", "a has 'x' has 'y'", "a in (1) in (2)", "a:x:y == 1"])
      expect(parseQuery(text.replace(":x:y", ": 'x' : 'y'")).query).toBeNull();
  });

  test("a long chain of and or or becomes a shallow tree with all operands in their order", () => {
    const names = Array.from({ length: 5000 }, (_, i) => `x${i}`);
    const { body } = parsed(names.join(" or "));
    const depth = (node: typeof body): number =>
      node.kind === "binary" ? 1 + Math.max(depth(node.left), depth(node.right)) : 0;
    expect(depth(body)).toBe(13);
    expect(write(body).replaceAll(/[()]/g, "")).toBe(names.join(" or "));
  });
});

describe("values", () => {
  test.each([
    ["a.b.c", "a.b.c"],
    ["a['b'].c[0][-1]", 'a["b"].c[0][(-1)]'],
    ["a.['b c']", 'a.["b c"]'],
    ["['a b'] == 1", '(["a b"] == 1)'],
    [`["a b"].c`, '["a b"].c'],
    ["f()", "f()"],
    ["f(a, b = 1, *)", "f(a, b = 1, *)"],
    ["f((a, b) = c)", "f((a, b) = c)"],
    ["toscalar(T | count)", "toscalar((T | count))"],
    ["toscalar kind=nooptimization (T | count)", "toscalar((T | count))"],
    ["a in (T | project x)", "(a in ((T | project x)))"],
    ["$left.a == $right.b", "($left.a == $right.b)"],
    ["count > 5 and kind == 'x'", '((count > 5) and (kind == "x"))'],
    ["from == to and type == step", "((from == to) and (type == step))"],
    ["limit > 3", "(limit > 3)"],
    ["typeof(long)", "typeof(long)"],
    ["datatable(a: long, b: string)[1, 'x', 2, 'y',]", 'datatable(a: long, b: string)[1, "x", 2, "y"]'],
  ])("%s", (text, expected) => {
    expect(bracketed(text)).toBe(expected);
  });
});

describe("field:value", () => {
  test.each([
    ["level:error", '(level : "error")'],
    ["level:error and x == 1", '((level : "error") and (x == 1))'],
    ['message:"disk full"', '(message : "disk full")'],
    ["field:*", "(field : *)"],
    ["field:err*", '(field : "err*")'],
    ["field:*err*", '(field : "*err*")'],
    ["host:web-1.example.org", '(host : "web-1.example.org")'],
    ["ip:10.0.0.1", '(ip : "10.0.0.1")'],
    ["path:/api/v1", '(path : "/api/v1")'],
    ["status:500", "(status : 500)"],
    ["status:-1", "(status : (-1))"],
    ["ok:true", "(ok : bool(true))"],
    ["took:2h", "(took : 7200000000000nanoseconds)"],
    ["attrs.user:bob", '(attrs.user : "bob")'],
    ["x : tolower('A')", '(x : tolower("A"))'],
    ["x:f(a)", "(x : f(a))"],
    ["x:a-f(b)", '((x : "a") - f(b))'],
    ["level : error", '(level : "error")'],
    ["not(level:error)", 'not((level : "error"))'],
    ["logs | where level:error | count", '(logs | where (level : "error") | count)'],
    ["(level:error)", '(level : "error")'],
  ])("%s", (text, expected) => {
    expect(bracketed(text)).toBe(expected);
  });

  test.each([
    ['"disk full"', '"disk full"'],
    ["err*", '"err*"'],
    ["*err*", '"*err*"'],
    ["5xx*", '"5xx*"'],
  ])("%s alone is searched for everywhere", (text, expected) => {
    expect(parsed(text).body).toMatchObject({ kind: "fieldSearch", left: null });
    expect(bracketed(text)).toBe(expected);
  });

  test("a text as a condition is searched for everywhere, one that is compared is not", () => {
    const { body } = parsed(`"a" and not("b") or x == "c"`);
    expect(
      JSON.stringify(body, (_, value) => (typeof value === "bigint" ? String(value) : value)).match(
        /"fieldSearch"/g,
      ),
    ).toHaveLength(2);
    expect(parsed('search "a" or "b"').body).toMatchObject({
      operators: [
        { predicate: { left: { kind: "fieldSearch", left: null }, right: { kind: "fieldSearch" } } },
      ],
    });
  });

  test("a name alone stays a name", () => {
    expect(parsed("error").body).toMatchObject({ kind: "name", name: "error" });
    expect(parsed("*").body).toMatchObject({ kind: "star" });
  });
});

describe("the forms of a query", () => {
  test.each<[string, Expression["kind"]]>([
    ["level == 'x'", "binary"],
    ["T", "name"],
    ["T | count", "pipeline"],
    ["where x == 1 | count", "pipeline"],
    ["| where x == 1", "pipeline"],
    ["count", "pipeline"],
    ["top 5 by x", "pipeline"],
    ["sort by x", "pipeline"],
    ["extend y = 1 | project y", "pipeline"],
    ["distinct *", "pipeline"],
    ["print 1", "pipeline"],
    ["range x from 1 to 2 step 1", "pipeline"],
    ["range(1, 2, 1)", "call"],
    ["union A, B", "pipeline"],
    ["search in (A, B*) 'x'", "pipeline"],
    ["count > 5", "binary"],
    ["sample == 1", "binary"],
    ["where:x", "fieldSearch"],
  ])("%s is a %s", (text, kind) => {
    expect(parsed(text).body.kind).toBe(kind);
  });

  test("operators alone have no source", () => {
    for (const text of ["where x == 1 | count", "| where x == 1 | count"]) {
      const { body } = parsed(text);
      expect(body).toMatchObject({ source: null });
      expect(bracketed(text)).toBe("(where (x == 1) | count)");
    }
  });

  test("statements stand in front, semicolons and comments may follow", () => {
    expect(bracketed("let a = 1; let b = T | where x == a;\nb | count; // all\n")).toBe(
      "let a = 1; let b = (T | where (x == a)); (b | count)",
    );
    expect(bracketed("set querytrace; set x = 5; T")).toBe("set querytrace; set x; T");
  });

  test("functions have parameters with types, defaults and tables, and statements of their own", () => {
    expect(bracketed("let f = (a: long, b: string = 'x') { a + 1 }; T")).toBe(
      'let f = (a: long, b: string = "x") { (a + 1) }; T',
    );
    expect(bracketed("let f = (t: (x: long), u: (*)) { let y = 1; t | where x == y; }; f(T, U)")).toBe(
      "let f = (t: (x: long), u: (*)) { let y = 1; (t | where (x == y)) }; f(T, U)",
    );
    expect(bracketed("let v = view () { T }; v")).toBe("let v = view () { T }; v");
    expect(bracketed("let x = (1 + 2); x")).toBe("let x = (1 + 2); x");
  });
});

describe("operators", () => {
  test.each([
    ["where a == 1", "where (a == 1)"],
    ["filter a", "filter a"],
    ["extend a = 1, b, (c, d) = f(x)", "extend a = 1, b, (c, d) = f(x)"],
    ["project", "project"],
    ["project a, ['b c'] = 1", 'project a, ["b c"] = 1'],
    ["project-away a, b*, *_id", "project-away a, b*, *_id"],
    ["project-keep a*b", "project-keep a*b"],
    ["project-reorder a asc, b* granny-desc, c", "project-reorder a asc, b* granny-desc, c"],
    ["project-rename a = b", "project-rename a = b"],
    [
      "summarize count() by bin(ts, 1h), level",
      "summarize count() by bin(ts, 3600000000000nanoseconds), level",
    ],
    ["summarize by a", "summarize  by a"],
    ["summarize hint.strategy=shuffle n = count()", "summarize hint.strategy=shuffle n = count()"],
    ["count as n", "count as n"],
    ["limit 5", "limit 5"],
    ["sample-distinct 5 of a", "sample-distinct 5 of a"],
    ["top 5 by a asc nulls first", "top 5 by a asc nulls first"],
    ["order by a, b desc nulls last", "order by a, b desc nulls last"],
    ["top-hitters 5 of a by b", "top-hitters 5 of a by b"],
    [
      "top-nested 3 of a with others = 'x' by count() desc, top-nested of b by n = sum(x)",
      'top-nested 3 of a with others = "x" by count() desc, top-nested of b by n = sum(x)',
    ],
    [
      "join kind=inner hint.strategy=broadcast (U | where y) on a, $left.b == $right.c",
      "join kind=inner hint.strategy=broadcast (U | where y) on a, ($left.b == $right.c)",
    ],
    ["lookup kind=leftouter U on a", "lookup kind=leftouter U on a"],
    [
      "union withsource=src kind=outer U, V*, (W | take 1)",
      "union withsource=src kind=outer U, V*, (W | take 1)",
    ],
    ["as hint.materialized=true X", "as hint.materialized=bool(true) X"],
    [
      'parse kind=regex flags=U s with * "a" x:long "b" y *',
      'parse kind=regex flags=U s with * "a" x:long "b" y *',
    ],
    ["parse-where s with 'a' b", 'parse-where s with "a" b'],
    [
      "parse-kv s as (a: long) with (pair_delimiter=' ', greedy=true)",
      'parse-kv s as (a: long) with (pair_delimiter = " ", greedy = bool(true))',
    ],
    ["mv-expand a = b to typeof(string), c limit 10", "mv-expand a = b to typeof(string), c limit 10"],
    ["mv-expand bagexpansion=array with_itemindex=i a", "mv-expand bagexpansion=array with_itemindex=i a"],
    [
      "mv-apply x = y to typeof(long) limit 5 on (where x > 1 | summarize sum(x))",
      "mv-apply x = y to typeof(long) limit 5 on (where (x > 1) | summarize sum(x))",
    ],
    [
      "make-series n = count() default = 0, avg(x) on ts from a to b step 1 by k, j",
      "make-series n = count() default = 0, avg(x) on ts from a to b step 1 by k, j",
    ],
    ["make-series count() on ts in range(a, b, 1)", "make-series count() on ts from a to b step 1"],
    ["evaluate pivot(a, sum(b)) : (x: long)", "evaluate pivot(a, sum(b)) : (x: long)"],
    ["facet by a, b with (where x | take 5)", "facet by a, b with (where x | take 5)"],
    ["facet by a with take 5", "facet by a with (take 5)"],
    [
      "reduce by a with threshold=0.1, characters='x'",
      'reduce by a with threshold = real(0.1), characters = "x"',
    ],
    [
      "render timechart with (title='x', ycolumns=a, b, kind=stacked)",
      'render timechart with (title = "x", ycolumns = "a,b", kind = stacked)',
    ],
    ["render piechart title='x' kind=default", 'render piechart with (title = "x", kind = default)'],
    ["search kind=case_sensitive in (A, B) x:y", 'search kind=case_sensitive in (A, B) (x : "y")'],
    ["invoke f(1, b=2)", "invoke f(1, b = 2)"],
    ["parse a with * 'x' ['b c'] 'y' ['d']:long", 'parse a with * "x" ["b c"] "y" d:long'],
    ["getschema", "getschema"],
    ["consume", "consume"],
    ["serialize n = row_number()", "serialize n = row_number()"],
  ])("%s", (text, expected) => {
    const { body } = parsed(`T | ${text} | count`);
    if (body.kind !== "pipeline") throw new Error("a pipeline has operators");
    const [operator, next] = body.operators;
    expect(operator === undefined ? "" : writeOperator(operator)).toBe(expected);
    expect(next).toMatchObject({ kind: "count" });
  });

  test.each([
    ["T | scan declare (x: long) with (step s: true => x = 1;) | count", "scan"],
    ["T | partition by x (take 5 | count) | count", "partition"],
    ["T | fork (take 5 | count) (count) | count", "fork"],
    ["T | make-graph a --> b with N on id | count", "make-graph"],
    ["T | graph-match (a)-[e]->(b) project a.x | count", "graph-match"],
    ["T | assert-schema (a: long) | count", "assert-schema"],
    ["find in (T) where a == 1 project b | count", "find"],
  ])("%s is read over to the next pipe, to be refused by name", (text, name) => {
    const { body } = parsed(text);
    if (body.kind !== "pipeline") throw new Error("a pipeline has operators");
    const inner = body.source?.kind === "pipeline" ? body.source.operators : body.operators;
    const [operator] = inner;
    expect(operator).toMatchObject({ kind: "unsupported", keyword: { name } });
    expect(body.operators.at(-1)).toMatchObject({ kind: "count" });
  });
});

describe("places", () => {
  test("a node covers what was written for it, brackets around its operands included", () => {
    const text = "T | where (a + b) * c == f(x) // end";
    const { body } = parsed(text);
    const spans: string[] = [];
    JSON.stringify(body, (key, value) => {
      if (key === "span") spans.push(text.slice(value.start, value.end));
      return typeof value === "bigint" ? String(value) : value;
    });
    expect(spans).toContain("(a + b) * c == f(x)");
    expect(spans).toContain("(a + b) * c");
    expect(spans).toContain("a + b");
    expect(spans).toContain("where (a + b) * c == f(x)");
    expect(spans).toContain("T | where (a + b) * c == f(x)");
  });

  test("lines and columns count from 1, whatever ends a line", () => {
    const text = "a\nbc\r\nd\re";
    expect(["a", "b", "c", "d", "e"].map((char) => lineAndColumn(text, text.indexOf(char)))).toEqual([
      { line: 1, column: 1 },
      { line: 2, column: 1 },
      { line: 2, column: 2 },
      { line: 3, column: 1 },
      { line: 4, column: 1 },
    ]);
    expect(lineAndColumn(text, 99)).toEqual({ line: 4, column: 2 });
  });
});
