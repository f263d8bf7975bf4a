/** What documents of Sigma become, and what is said of those that cannot be taken over. */
import { describe, expect, test } from "bun:test";
import { type Converted, convertSigma } from "../../../src/rules/sigma/convert.ts";
import type { ConvertedRule } from "../../../src/rules/sigma/converted-rule.ts";
import { hintOf } from "../../../src/rules/sigma/documents.ts";
import {
  CONVERTED_KQL_MAX_CHARS,
  DOCUMENT_MAX_TOKENS,
  HINT_MAX_CHARS,
  IMPORT_MAX_DOCUMENTS,
  SELECTIONS_MAX_COUNT,
  TESTS_MAX_COUNT,
} from "../../../src/rules/sigma/limits.ts";

const HEAD = "title: A rule\nlogsource: { product: linux }\n";

function ruleOf(converted: Converted | undefined): ConvertedRule {
  if (
    converted === undefined ||
    !("made" in converted) ||
    converted.made === "part" ||
    converted.made.kind !== "log"
  )
    throw new Error(`no rule: ${JSON.stringify(converted)}`);
  return converted.made;
}

async function kqlOf(detection: string): Promise<string> {
  return ruleOf((await convertSigma(`${HEAD}detection:\n  a: ${detection}\n  condition: a\n`))[0]).kql;
}

async function problemsOf(text: string): Promise<string[]> {
  return (await convertSigma(text)).flatMap((each) =>
    "problems" in each
      ? each.problems.map(({ line, column, path, message }) => `${line}:${column} ${path} ${message}`)
      : [],
  );
}

test.each([
  ["{ x: y }", 'tostring(attrs.x) =~ "y"'],
  ["{ x: 5 }", 'tostring(attrs.x) == "5"'],
  ["{ x: [y, z] }", 'tostring(attrs.x) in~ ("y", "z")'],
  ["{ x.y: z }", 'tostring(attrs.x.y) =~ "z"'],
  ["{ x-y: z }", 'tostring(attrs["x-y"]) =~ "z"'],
  ["{ x|cased: y }", 'tostring(attrs.x) == "y"'],
  ["{ x|contains: '\\y' }", 'attrs.x contains "\\\\y"'],
  ["{ x|endswith: y, z|startswith: w }", '(attrs.x endswith "y" and attrs.z startswith "w")'],
  ["{ x: 'y*' }", 'attrs.x startswith "y"'],
  ["{ x: '*' }", "isnotempty(attrs.x)"],
  ["{ x: null }", "not(isnotempty(attrs.x))"],
  ["{ x: '' }", "(isempty(attrs.x))"],
  ["{ x|exists: false }", "not(isnotempty(attrs.x))"],
  ["{ x: 'abc*d?' }", '(attrs.x contains "abc" and attrs.x matches regex "(?is)^abc.*d.$")'],
  ["{ x|re|i: 'a+$' }", 'attrs.x matches regex "(?i)a+$"'],
  ["{ x|cidr: 10.0.0.0/8 }", 'coalesce(ipv4_is_in_range(tostring(attrs.x), "10.0.0.0/8"), false)'],
  ["{ x|gte: 2.5 }", "coalesce(todouble(tostring(attrs.x)) >= 2.5, false)"],
  ["{ x|neq: y }", 'not(tostring(attrs.x) =~ "y")'],
  ["[one, two]", '(* contains "one" or * contains "two")'],
  ["{ '|all': [one, two] }", '(* contains "one" and * contains "two")'],
  ["{ service: y }", 'tostring(service) =~ "y"'],
])("%s becomes %s", async (detection, kql) => {
  expect(await kqlOf(detection)).toBe(kql);
});

test("what is known of a rule is kept, and its source says what an entry is", async () => {
  const [converted] = await convertSigma(`
title: A shell of a browser
id: 0f7a4c1e-52b3-4f0e-9d61-6a8c2f4b7e10
description: It should have none.
references: [https://example.com/a]
falsepositives: [Kiosks]
tags: [attack.execution, attack.t1059.003, attack.t1204]
level: critical
logsource: { product: windows, category: process_creation }
detection: { a: { ParentImage|endswith: '\\browser.exe' }, condition: a }
`);
  expect(ruleOf(converted)).toMatchObject({
    key: "sigma:0f7a4c1e-52b3-4f0e-9d61-6a8c2f4b7e10",
    name: "A shell of a browser",
    description: "It should have none.\nFalse positives: Kiosks\nReferences: https://example.com/a",
    ...{ severity: "critical", attackTechnique: "T1059.003", threshold: 1, groupBy: [] },
    kql: expect.stringMatching(
      /^\(tostring\(attrs\.EventID\) in \("1", "4688"\).* and \(attrs\.ParentImage endswith/,
    ),
    fields: new Map([
      ["ParentImage", ["ParentImage", "winlog.event_data.ParentImage", "process.parent.executable"]],
    ]),
  });
});

test("a count behind the condition is a threshold", async () => {
  const detection = "detection: { k: { x: y }, timeframe: 10m, condition: k | count() by host > 5 }";
  expect(ruleOf((await convertSigma(`${HEAD}${detection}`))[0])).toMatchObject({
    ...{ threshold: 6, windowSec: 600, groupBy: ["host"] },
  });
});

describe("correlations", () => {
  const base = (name: string) =>
    `title: ${name}\nname: ${name}\nlogsource: { product: linux }\ndetection: { a: { x: ${name} }, condition: a }`;
  const correlation = (fields: string) =>
    `${base("one")}\n---\n${base("two")}\n---\ntitle: Together\ncorrelation: { rules: [one, two], timespan: 5m, ${fields} }`;
  const last = async (fields: string) => (await convertSigma(correlation(fields))).at(-1);

  test("a count of entries is a log alert over any of them, of which the parts tell nothing by themselves", async () => {
    const converted = await convertSigma(
      correlation("type: event_count, group-by: [host], condition: { gte: 10 }"),
    );
    expect(converted.slice(0, 2).map((each) => ("made" in each ? each.made : null))).toEqual([
      "part",
      "part",
    ]);
    expect(ruleOf(converted[2])).toMatchObject({
      kql: '(tostring(attrs.x) =~ "one") or (tostring(attrs.x) =~ "two")',
      ...{ threshold: 10, windowSec: 300, groupBy: ["host"] },
    });
  });

  test("parts that say so tell by themselves, too", async () => {
    const converted = await convertSigma(
      correlation("type: event_count, generate: true, condition: { gt: 10 }"),
    );
    expect(converted.map((each) => "made" in each && each.made !== "part")).toEqual([true, true, true]);
    expect(ruleOf(converted[2]).threshold).toBe(11);
  });

  test("an order is a sequence, values are a cardinality", async () => {
    expect(await last("type: temporal_ordered, group-by: [host]")).toMatchObject({
      made: {
        kind: "sequence",
        joinField: "host",
        steps: ['tostring(attrs.x) =~ "one"', 'tostring(attrs.x) =~ "two"'],
      },
    });
    expect(
      await last("type: value_count, group-by: [host], condition: { gte: 3, field: user }"),
    ).toMatchObject({
      made: { kind: "cardinality", joinField: "host", distinctField: "user", threshold: 3 },
    });
  });

  test.each([
    ["type: temporal, group-by: [host]", "/correlation/type asks for rules in any order"],
    ["type: temporal_ordered", "/correlation/group-by has to name one field"],
    ["type: event_count, condition: { lt: 3 }", "/correlation/condition has to be a number that is reached"],
    ["type: event_count, rules: [three], condition: { gte: 3 }", "is not YAML"],
    [
      "type: event_count, group-by: [u], aliases: { u: { one: a, two: b } }, condition: { gte: 3 }",
      "/correlation/aliases/u is another field",
    ],
    ["type: value_count, group-by: [host], condition: { gte: 3 }", "/correlation/condition names no field"],
  ])("{ %s } is refused with its place", async (fields, said) => {
    expect((await problemsOf(correlation(fields))).join()).toContain(said);
  });
});

test("one that is broken says where and keeps no other from being taken", async () => {
  const good = `${HEAD}detection: { a: { x: y }, condition: a }`;
  const text = [
    good,
    `${HEAD}detection:\n  a: { x|expand: '%p%' }\n  condition: a`,
    "title: [",
    `id: other\n${good}`,
  ].join("\n---\n");
  const converted = await convertSigma(text);
  expect(converted.map((each) => "made" in each)).toEqual([true, false, false, true]);
  expect((await problemsOf(text))[0]).toBe(
    "8:18 /detection/a/x|expand asks for a placeholder, whose values are not in the rule.",
  );
});

test.each([
  ["detection: { a: { x: y }, condition: b }", "/detection/condition names the selection `b`"],
  ["detection: { a: { x: y }, condition: a and }", "ends too early"],
  ["detection: { a: { x: y }, condition: (a }", "ends too early"],
  ["detection: { a: { x: y }, condition: a b }", "says `b` where"],
  ["detection: { a: { x: y }, condition: 2 of a* }", "asks for a number of selections"],
  ["detection: { a: { x: y }, condition: 1 of c* }", "names no selection"],
  ["detection: { a: { x|frob: y }, condition: a }", "has the modifier frob"],
  ["detection: { a: { x|cidr: y }, condition: a }", "has to be a range of addresses"],
  ["detection: { a: { x|lt: y }, condition: a }", "has to be a number"],
  ["detection: { a: { x: { y: z } }, condition: a }", "has to be a text"],
  ["detection: { a: {}, condition: a }", "is empty"],
  ["detection: { a: { x: y }, a: { x: z }, condition: a }", "is not YAML"],
  ["detection: { a: { x: y } }", "has no condition"],
  ["detection: { a: { x: y }, condition: a | near b }", "counts with"],
  ["detection: { a: { x: y }, timeframe: 3d, condition: a }", "is longer than a day"],
  ["level: frob\ndetection: { a: { x: y }, condition: a }", "/level is none"],
  [`detection: { a: { x|contains: [${"y, ".repeat(1500)}] }, condition: a }`, "characters of KQL"],
])("%s is refused", async (rest, said) => {
  expect((await problemsOf(HEAD + rest)).join()).toContain(said);
});

test.each([
  ["a look-ahead", "{ w: v, x|re: 'run(?!ner)' }"],
  ["a look-behind", "{ x|re: '(?<=a)b' }"],
  ["a group that is not closed", "{ x|re: '(a' }"],
  ["a reference back", "{ x|re: '(a)\\1' }"],
  ["more repetitions than can be counted", "{ x|re: 'a{5000}' }"],
])("a regular expression with %s is refused at the line and column where it stands", async (_, selection) => {
  const at = selection.indexOf("'");
  const text = `${HEAD}detection:\n  good: { x|re: 'a+' }\n  bad: ${selection}\n  condition: good and not bad`;
  const [problem = "", ...others] = await problemsOf(text);
  expect(others).toEqual([]);
  expect(problem).toStartWith(`5:${at + 8} /detection/bad/x|re becomes KQL that is refused: `);
});

test("of a list of expressions the one that is refused is told, under every name that a field has", async () => {
  const windows = "title: A\nlogsource: { product: windows }\n";
  const text = `${windows}detection:\n  a:\n    Image|re:\n      - 'a+'\n      - 'b(?=c)'\n      - 'd'\n  condition: a`;
  expect((await problemsOf(text))[0]).toStartWith("7:9 /detection/a/Image|re/1 becomes KQL");
});

test("a correlation of a refused rule is refused where it names it, and a second document of an id at the id", async () => {
  const bad = `title: One\nname: one\nlogsource: { product: linux }\ndetection: { a: { x|re: '(?=a)' }, condition: a }`;
  const both =
    "title: Two\ncorrelation: { type: event_count, rules: [one], timespan: 5m, condition: { gte: 3 } }";
  const good = `${HEAD}id: same\ndetection: { a: { x: y }, condition: a }`;
  expect(await problemsOf([bad, both, good, good].join("\n---\n"))).toEqual([
    expect.stringMatching(/^4:25 \/detection\/a\/x\|re becomes KQL/),
    expect.stringMatching(/^7:43 \/correlation\/rules\/0 names the rule `one`, which is not in the text or/),
    "16:5 /id is that of another document before it.",
  ]);
});

test.each([
  ["a list in one line", "TOKENS", `x: [${"a,".repeat(60_000)}]`],
  ["a map of many names", "TOKENS", Array.from({ length: 4_000 }, (_, i) => `k${i}: 1`).join("\n")],
  ["comments", "TOKENS", "#\n".repeat(30_000)],
])("%s, longer than a rule can be, is refused before it is read", async (_, __, rest) => {
  expect(await problemsOf(`${HEAD}${rest}`)).toEqual([
    `1:1  The document has more than ${DOCUMENT_MAX_TOKENS} signs, names and values.`,
  ]);
});

test("a list of hashes as long as public rules have is read", async () => {
  const hash = "f".repeat(64);
  const hashes = Array.from({ length: 1_500 }, (_, i) => `      - 'SHA256=${hash}${i}'`).join("\n");
  const detection = `detection:\n  a:\n    Hashes|contains:\n${hashes}\n  condition: a`;
  expect((await problemsOf(`${HEAD}${detection}`)).join()).toContain("characters of KQL");
});

test("selections, and values that a condition asks for again and again, are bounded before they are put together", async () => {
  const named = (count: number) => Array.from({ length: count }, (_, i) => `  s${i}: { x: y }`).join("\n");
  const rule = (count: number, condition: string) =>
    problemsOf(`${HEAD}detection:\n${named(count)}\n  condition: ${condition}`);
  expect((await rule(SELECTIONS_MAX_COUNT + 1, "1 of s*")).join()).toContain(
    `more than ${SELECTIONS_MAX_COUNT} selections`,
  );
  const often = Array.from({ length: 500 }, () => "1 of s*").join(" or ");
  expect(await rule(100, often)).toEqual([
    `104:14 /detection/condition asks for more than ${TESTS_MAX_COUNT} values.`,
  ]);
  const twice = "{ x|base64offset|base64offset|contains: y }";
  expect((await problemsOf(`${HEAD}detection: { a: ${twice}, condition: a }`)).join()).toContain(
    "has the modifier base64offset twice",
  );
});

test.each([
  ["s*n*", true],
  ["*one*", true],
  ["s*e", true],
  ["s_one", true],
  ["s_one*e", false],
  ["s**one", true],
  ["one*", false],
  ["s*x*", false],
])("the pattern of names %s takes s_one: %p", async (pattern, isTaken) => {
  const text = `${HEAD}detection:\n  s_one: { x: y }\n  condition: 1 of ${pattern}`;
  expect(await problemsOf(text)).toHaveLength(isTaken ? 0 : 1);
});

test.each([
  ["rule a\n{ strings: $a\n condition: x }", "YARA"],
  ["x\n[rule]\nname = 1", "Elastic"],
  ["index=main sourcetype=x", "Splunk"],
])(
  "what looks like a rule of another product is told so, however much follows: %j",
  async (text, product) => {
    expect(hintOf(text)).toContain(product);
    expect(hintOf(text + "\n".repeat(100_000))).toContain(product);
    expect(hintOf("\n".repeat(HINT_MAX_CHARS) + text)).toBe("");
  },
);

test("what is no rule of Sigma is refused, and told what it looks like", async () => {
  expect((await problemsOf("rule a { condition: x }")).join()).not.toBe("");
  expect((await problemsOf("- a\n- b")).join()).toContain("A Sigma rule is a map");
  expect((await problemsOf("title: A\ndetection: { a: { x: y }, condition: a }")).join()).toContain(
    "/logsource",
  );
  expect(await convertSigma("\n---\n# nothing\n---\n")).toEqual([]);
});

test("a text that refers to itself again and again, or nests without end, is refused at once", async () => {
  const bomb = Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`);
  const text = `a0: &a0 [x, x]\n${bomb.join("\n")}`;
  expect((await problemsOf(text)).join()).toMatch(/too often|a map/);
  expect((await problemsOf(`${HEAD}detection: ${"[".repeat(5_000)}${"]".repeat(5_000)}`)).length).toBe(1);
  const condition = `${"(".repeat(5_000)}a${")".repeat(5_000)}`;
  expect((await problemsOf(`${HEAD}detection: { a: { x: y }, condition: "${condition}" }`)).join()).toContain(
    "too deep",
  );
});

test("what is said once and meant twice is taken as if it were written twice", async () => {
  expect(await kqlOf("{ x|contains: &both [y, z], w|contains: *both }")).toBe(
    await kqlOf("{ x|contains: [y, z], w|contains: [y, z] }"),
  );
});

test.each([
  ["a list that holds itself", "x: &x [*x, *x]", "nested deeper"],
  ["a map that holds itself", "x: &x { y: *x, z: *x }", "nested deeper"],
  ["a rule that is its own value", "x: y\ndetection: &d { a: { x: *d }, condition: a }", "nested deeper"],
  ["a long list that is meant often", `x: &x [${"y,".repeat(5_000)}]\nz: [${"*x,".repeat(90)}]`, "too often"],
  ["a text that is meant often", `x: &x y\nz: [${"*x,".repeat(5_000)}]`, "too often"],
  ["an alias of nothing", "x: *nobody", "is not YAML"],
  ["a tag", "x: !!js/function y", "is not YAML"],
  [
    "a merge of a map, which YAML 1.2 has not",
    "detection: { a: { <<: { x: y } }, condition: a }",
    "/detection/a/<<",
  ],
])("%s is refused with its place, and the documents beside it are taken", async (_, rest, said) => {
  const good = `${HEAD}detection: { a: { x: y }, condition: a }`;
  const text = `${good}\n---\n${HEAD}${rest}\n---\nid: other\n${good}`;
  expect((await convertSigma(text)).map((each) => "made" in each)).toEqual([true, false, true]);
  const [problem] = await problemsOf(text);
  expect(problem).toMatch(/^[4-8]:\d+ /);
  expect(problem).toContain(said);
});

test("of five hundred documents the one that is broken says where, and all others are taken", async () => {
  const documents = Array.from(
    { length: IMPORT_MAX_DOCUMENTS },
    (_, i) => `${HEAD}id: r-${i}\ndetection: { a: { x: y${i} }, condition: ${i === 250 ? "b" : "a"} }\n`,
  );
  const text = documents.join("---\n");
  const converted = await convertSigma(text);
  expect(converted.map((each) => "made" in each)).toEqual(documents.map((_, i) => i !== 250));
  expect(await problemsOf(text)).toEqual([
    expect.stringMatching(/^1254:\d+ \/detection\/condition names the selection `b`/),
  ]);
});

test("long lists of what a field may be fit into one rule", async () => {
  const names = Array.from({ length: 400 }, (_, i) => `\\\\tool-number-${i}.exe`);
  const kql = await kqlOf(JSON.stringify({ x: names }));
  expect(kql.length).toBeLessThan(CONVERTED_KQL_MAX_CHARS);
});
