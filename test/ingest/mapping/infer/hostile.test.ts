import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compileMapping } from "../../../../ingest/mapping/compile-mapping.ts";
import { inferMapping } from "../../../../ingest/mapping/infer/infer-mapping.ts";
import { mapRecord } from "../../../../ingest/mapping/preview.ts";
import { mappingIssues } from "../../../../ingest/mapping/validate-mapping.ts";

/** Objects `depth` deep, without recursion. */
function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = { msg: "deep" };
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
}

/** Infers, and checks what must hold for every sample. */
function infer(sample: unknown, hint?: string): ReturnType<typeof inferMapping> {
  const inferred = inferMapping(sample, hint);
  expect(mappingIssues(inferred.mapping)).toEqual([]);
  compileMapping(inferred.mapping);
  expect(inferred.confidence).toBeGreaterThanOrEqual(0);
  expect(inferred.confidence).toBeLessThanOrEqual(1);
  expect(JSON.parse(JSON.stringify(inferred))).toEqual(
    JSON.parse(JSON.stringify(inferMapping(sample, hint))),
  );
  return inferred;
}

describe("a sample that holds nothing to go by", () => {
  test("gives a mapping that says so", () => {
    const texts = ["", " ", "hello", "{", "[", '"', "\u0000", "CEF:", "12", "true", "null", "\uFEFF{}"];
    for (const sample of [
      null,
      undefined,
      true,
      0,
      -1,
      Number.NaN,
      1e308,
      [],
      [[]],
      [null],
      [1, "a"],
      {},
      [{}],
      ...texts,
    ]) {
      const inferred = infer(sample);
      expect([sample, inferred.preset]).toEqual([sample, null]);
      expect(inferred.confidence).toBeLessThan(0.5);
    }
  });

  test("is no CEF because it says CEF somewhere", () => {
    expect(infer("CEF:0|a|b").format).toBe("cef");
    expect(infer("CEF:0|a|b").preview[0]?.problem).toBeString();
    expect(infer({ msg: "CEF:0|a|b|c|d|e|5|" }).format).toBe("json");
  });
});

describe("a hostile sample", () => {
  test("may nest as deep as it likes", () => {
    for (const depth of [9, 33, 1000]) {
      infer(nested(depth, (inner) => ({ inner })));
      infer(nested(depth, (inner) => [inner]));
      infer(nested(depth, (inner) => ({ records: [inner] })));
      infer(JSON.stringify(nested(depth, (inner) => ({ inner }))));
    }
  });

  test("may be as wide as it likes, and a bounded part of it is looked at", () => {
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`field_${i}`, i]));
    const long = Array.from({ length: 100_000 }, (_, i) => ({ ts: 1778536798 + i, msg: `line ${i}` }));
    expect(infer({ ...wide, msg: "wide" }).unmapped.length).toBeLessThanOrEqual(100);
    expect(infer(long).preview.length).toBe(3);
    infer(long.map((record) => JSON.stringify(record)).join("\n"));
    infer({ msg: "x".repeat(5_000_000), ts: 1778536798 });
    infer("x".repeat(5_000_000));
    infer("\n".repeat(5_000_000));
  });

  test("has names that are no path, or the language's own", () => {
    const names = [
      "__proto__",
      "constructor",
      "toString",
      "",
      ".",
      "..",
      "a.",
      ".a",
      "a..b",
      "a[0]",
      "[0]",
      "\\",
      "{",
      "}",
    ];
    for (const name of names) {
      const text = `{${JSON.stringify(name)}:{"message":"it broke","time":"2026-05-11T21:59:58Z","status":503},"method":"GET",${JSON.stringify(`path${name}`)}:"/a"}`;
      const inferred = infer(text);
      expect([name, inferred.preview[0]?.problem]).toEqual([name, null]);
    }
    expect(Object.getPrototypeOf(infer('{"__proto__":{"level":"info"}}').mapping)).toBe(Object.prototype);
  });

  test("has names too long for a path or an attribute", () => {
    for (const length of [255, 256, 512, 513, 5000])
      infer({ [`${"x".repeat(length)}status`]: 503, status: 200, msg: "m" });
    infer({ ["status".padStart(400, "x.")]: 503 });
  });

  test("has a hint that is none", () => {
    for (const hint of [
      "",
      " ",
      "time is",
      "time is in",
      "time is in field",
      "__proto__",
      "(((",
      "is is is",
      "x".repeat(5000),
    ])
      infer({ ts: 1778536798, msg: "hello", constructor: 1 }, hint);
  });
});

describe("for any sample and hint", () => {
  const words = fc.constantFrom(
    "time",
    "timestamp",
    "ts",
    "@t",
    "level",
    "severity",
    "status",
    "message",
    "msg",
    "log",
    "service",
    "app",
    "host",
    "trace_id",
    "span_id",
    "event_id",
    "id",
    "method",
    "path",
    "records",
    "items",
    "data",
    "a.b",
    "a[0]",
    "__proto__",
    "",
  );
  const texts = fc.oneof(
    fc.constantFrom(
      "2026-05-11T21:59:58Z",
      "1778536798",
      "info",
      "ERROR+2",
      "GET",
      "/a",
      "it broke here",
      "web-1",
      "{}",
      "0af7651916cd43dd8448eb211c80319c",
      "00000000-0000-4000-8000-000000000001",
      "CEF:0|a|b|c|d|e|5|x=y",
    ),
    fc.string({ unit: "binary", maxLength: 40 }),
  );
  const scalars = fc.oneof(
    texts,
    fc.constantFrom(30, 1778536798006, 503, 0, -1, 1e300),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
  );
  const { value: values } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: "small" },
      scalars,
      tie("object"),
      fc.array(tie("value"), { maxLength: 4 }),
    ),
    object: fc.dictionary(fc.oneof(words, fc.string({ maxLength: 8 })), tie("value"), {
      maxKeys: 8,
      noNullPrototype: true,
    }),
  }));
  const samples = fc.oneof(
    values,
    values.map((value) => JSON.stringify(value)),
    fc
      .array(values, { maxLength: 4 })
      .map((several) => several.map((value) => JSON.stringify(value)).join("\n")),
    fc.string({ unit: "binary", maxLength: 200 }),
  );
  const hints = fc.option(
    fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.tuple(words, words).map(([field, path]) => `${field} is in ${path}`),
      fc.constantFrom("pino", "nginx-json", "time is in ts"),
    ),
    { nil: undefined },
  );

  test("nothing is thrown, and the mapping is valid, compiles and is the same again", () => {
    fc.assert(
      fc.property(samples, hints, (sample, hint) => {
        infer(sample, hint);
      }),
      { numRuns: 300 },
    );
  });

  test("the preview is what the mapping does", () => {
    fc.assert(
      fc.property(fc.dictionary(words, scalars, { maxKeys: 8, noNullPrototype: true }), (record) => {
        const { mapping, preview } = inferMapping([record]);
        expect(preview).toEqual([mapRecord(compileMapping(mapping), record)]);
      }),
      { numRuns: 150 },
    );
  });
});
