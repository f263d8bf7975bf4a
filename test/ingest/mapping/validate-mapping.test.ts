import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compileMapping } from "../../../ingest/mapping/compile-mapping.ts";
import type { Mapping } from "../../../ingest/mapping/mapping.ts";
import { parsePath } from "../../../ingest/mapping/path.ts";
import { mapRecord } from "../../../ingest/mapping/preview.ts";
import { parseTemplate } from "../../../ingest/mapping/template.ts";
import { mappingIssues } from "../../../ingest/mapping/validate-mapping.ts";

describe("a path", () => {
  test.each<[string, readonly string[] | null]>([
    ["a", ["a"]],
    ["a.b", ["a", "b"]],
    ["a[0].b", ["a", "0", "b"]],
    ["[1][2]", ["1", "2"]],
    ["a[x]", ["a[x]"]],
    ["a[1]b", ["a[1]b"]],
    ["a\\.b.c", ["a.b", "c"]],
    ["a\\[0]", ["a[0]"]],
    ["\\\\", ["\\"]],
    [" a . b ", [" a ", " b "]],
    ["", null],
    [".a", null],
    ["a..b", null],
    ["a.", null],
    ["a\\", null],
    ["a".repeat(513), null],
    ["a.".repeat(32).concat("a"), null],
  ])("%j has the segments %j", (path, segments) => expect(parsePath(path)).toEqual(segments));

  test("of any keys leads to where they lead, once their dots are escaped", () => {
    const key = fc.string({ minLength: 1, maxLength: 6, unit: "grapheme" });
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), (keys) => {
        const from = keys.map((one) => one.replace(/[\\.[]/g, "\\$&")).join(".");
        const record: unknown = keys.reduceRight<unknown>(
          (inner, one) => JSON.parse(`{${JSON.stringify(one)}:${JSON.stringify(inner)}}`),
          "found",
        );
        const map = compileMapping({ keepUnmapped: false, fields: { found: { from } } });
        expect(mapRecord(map, Object(record)).entry?.attrs).toEqual({ found: "found" });
      }),
      { numRuns: 200 },
    );
  });
});

test.each(["{a}", "x {a.b} {{y}} {c[0]}", "", "plain"])("%j is a template", (template) => {
  expect(parseTemplate(template)).not.toBeNull();
});
test.each(["{", "}", "{a", "a}", "{}", "{a..b}", "{a{b}}", "x".repeat(2049)])(
  "%j is no template",
  (template) => {
    expect(parseTemplate(template)).toBeNull();
  },
);

describe("a mapping", () => {
  test.each<[Mapping, string]>([
    [{ timestamp: { from: "" } }, "/timestamp/from"],
    [{ timestamp: { from: "a", fromDefault: "." } }, "/timestamp/fromDefault"],
    [{ records: "a." }, "/records"],
    [{ messageTemplate: "{" }, "/messageTemplate"],
    [{ fields: { a: { from: "." } } }, "/fields/a/from"],
    [{ fields: { a: {} } }, "/fields/a"],
    [{ fields: { "": { const: 1 } } }, "/fields/"],
    [{ fields: { ["x".repeat(256)]: { const: 1 } } }, `/fields/${"x".repeat(256)}`],
    [{ fields: { "a/b~c": { from: "." } } }, "/fields/a~1b~0c/from"],
    [{ fields: { traceId: { from: "a" }, trace_id: { from: "b" } } }, "/fields/traceId"],
    [{ fields: { level: { from: "a", default: "loud" } } }, "/fields/level/default"],
    [{ fields: { level: { from: "a", map: { x: "loud" } } } }, "/fields/level/map/x"],
    [
      { fields: Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`f${i}`, { const: 1 }])) },
      "/fields",
    ],
    [{ note: "x".repeat(65_537) }, ""],
  ])("%# says what is wrong with it", (mapping, path) => {
    expect(mappingIssues(mapping).map((issue) => issue.path)).toContain(path);
  });

  test("has a bounded number of segments in all its paths, wherever they stand", () => {
    const deep = (segments: number): string => "a.".repeat(segments - 1).concat("a");
    const fields = (count: number): NonNullable<Mapping["fields"]> =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, { from: deep(32) }]));
    const tooBig = [{ path: "", code: "too_big" }];
    expect(mappingIssues({ fields: fields(32) })).toEqual([]);
    expect(mappingIssues({ fields: fields(33) })).toMatchObject(tooBig);
    expect(mappingIssues({ fields: { ...fields(32), x: { fromDefault: "a" } } })).toMatchObject(tooBig);
    expect(mappingIssues({ fields: fields(32), timestamp: { from: "a" } })).toMatchObject(tooBig);
    expect(mappingIssues({ fields: fields(32), messageTemplate: "at {a}" })).toMatchObject(tooBig);
  });

  test("of any extra keys is fine", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string().map((key) => `x-${key}`),
          fc.jsonValue({ maxDepth: 3 }),
        ),
        (extra) => {
          expect(mappingIssues(extra)).toEqual([]);
          expect(mapRecord(compileMapping(extra), { msg: "m" }).entry?.message).toBe("m");
        },
      ),
      { numRuns: 50 },
    );
  });

  test("as large as one may be maps a record as wide as one may be", () => {
    const fields = Object.fromEntries(
      Array.from({ length: 256 }, (_, i) => [`f${i}`, { from: `a.b.k${i}`, map: { x: "y" } }]),
    );
    const mapping: Mapping = { fields };
    expect(mappingIssues(mapping)).toEqual([]);
    const record = { a: { b: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, "x"])) } };
    const map = compileMapping(mapping);
    expect(mapRecord(map, record).entry?.attrs).toMatchObject({ f0: "y", f253: "y" });
  });
});
