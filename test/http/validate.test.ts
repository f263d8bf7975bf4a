import { describe, expect, test } from "bun:test";
import { type Static, type TSchema, Type } from "typebox";
import { ApiError, type FieldIssue } from "../../src/errors.ts";
import { compileQuery } from "../../src/http/query-parameters.ts";
import { compileSchema } from "../../src/http/validate.ts";

const closed = { additionalProperties: false };
const Step = Type.Union([
  Type.Object({ type: Type.Literal("http"), url: Type.String({ format: "uri" }) }, closed),
  Type.Object({ type: Type.Literal("wait"), seconds: Type.Integer({ minimum: 1 }) }, closed),
]);
const Body = Type.Object(
  {
    name: Type.String({ minLength: 2, maxLength: 5 }),
    intervalSec: Type.Optional(Type.Union([Type.Literal(30), Type.Literal(60)])),
    level: Type.Optional(Type.Enum(["info", "warn"])),
    note: Type.Optional(Type.Union([Type.String({ maxLength: 3 }), Type.Null()])),
    at: Type.Optional(Type.String({ format: "date-time" })),
    slug: Type.Optional(Type.String({ pattern: "^[a-z]+$" })),
    count: Type.Optional(Type.Integer({ minimum: 1, exclusiveMaximum: 10 })),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 2, uniqueItems: true })),
    steps: Type.Optional(Type.Array(Step, { minItems: 1 })),
    labels: Type.Optional(Type.Record(Type.String(), Type.Number())),
    either: Type.Optional(Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })])),
  },
  closed,
);
const body = compileSchema(Body);

/** `path code` of every issue. */
function issuesOf(value: unknown): string[] {
  return body.issues(value).map(({ path, code }) => `${path} ${code}`);
}

describe("a body", () => {
  test("that fits has no issues", () => {
    const value = {
      name: "abc",
      intervalSec: 60,
      note: null,
      at: "2024-02-29T23:59:59.123456789+05:30",
      steps: [{ type: "wait", seconds: 1 }],
      labels: { x: 1 },
    };
    expect(body.check(value)).toBe(true);
    expect(body.issues(value)).toEqual([]);
  });

  test.each<[string, unknown, string[]]>([
    ["nothing", undefined, [" invalid_type"]],
    ["an array", [], [" invalid_type"]],
    ["null", null, [" invalid_type"]],
    ["a missing field", {}, ["/name invalid_type"]],
    ["text that is too short", { name: "a" }, ["/name too_small"]],
    ["text that is too long", { name: "abcdef" }, ["/name too_big"]],
    ["length counted in code points", { name: "😀😀😀😀😀" }, []],
    ["an unknown field", { name: "ab", nam: 1 }, ["/nam unrecognized_keys"]],
    ["unknown fields that need escaping", { name: "ab", "a/b~c": 1 }, ["/a~1b~0c unrecognized_keys"]],
    ["a number as text", { name: "ab", count: "5" }, ["/count invalid_type"]],
    ["text as a number", { name: 12 }, ["/name invalid_type"]],
    ["a fraction for an integer", { name: "ab", count: 1.5 }, ["/count invalid_type"]],
    ["a number below", { name: "ab", count: 0 }, ["/count too_small"]],
    ["a number above", { name: "ab", count: 10 }, ["/count too_big"]],
    ["a value outside the literals", { name: "ab", intervalSec: 31 }, ["/intervalSec invalid_literal"]],
    ["a literal of another type", { name: "ab", intervalSec: "30" }, ["/intervalSec invalid_type"]],
    ["a value outside the enumeration", { name: "ab", level: "INFO" }, ["/level invalid_literal"]],
    ["a nullable text too long", { name: "ab", note: "abcd" }, ["/note too_big"]],
    ["a nullable text of another type", { name: "ab", note: 5 }, ["/note invalid_type"]],
    ["a day that does not exist", { name: "ab", at: "2023-02-29T00:00:00Z" }, ["/at invalid_string"]],
    ["text outside the pattern", { name: "ab", slug: "A" }, ["/slug invalid_string"]],
    ["too many items", { name: "ab", tags: ["a", "b", "c"] }, ["/tags too_big"]],
    ["too few items", { name: "ab", steps: [] }, ["/steps too_small"]],
    ["items that repeat", { name: "ab", tags: ["a", "a"] }, ["/tags custom"]],
    ["a record's value", { name: "ab", labels: { "x/y": "1" } }, ["/labels/x~1y invalid_type"]],
    ["a union without a discriminator", { name: "ab", either: {} }, ["/either invalid_union"]],
  ])("says what is wrong: %s", (_name, value, issues) => {
    expect(issuesOf(value)).toEqual(issues);
    expect(body.check(value)).toBe(issues.length === 0);
  });

  test("is explained by the branch of a union it was meant for", () => {
    const steps = [
      { type: "http", url: "ftp://x" },
      { type: "wait", seconds: 0, url: "http://x.example" },
      { type: "sleep" },
      {},
      "wait",
    ];
    expect(issuesOf({ name: "ab", steps })).toEqual([
      "/steps/0/url invalid_string",
      "/steps/1/url unrecognized_keys",
      "/steps/1/seconds too_small",
      "/steps/2/type invalid_literal",
      "/steps/3/type invalid_type",
      "/steps/4 invalid_type",
    ]);
  });

  test("gets at most 100 issues, one per path and code", () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, i]));
    const issues = issuesOf({ name: "ab", ...many });
    expect(issues).toHaveLength(100);
    expect(new Set(issues).size).toBe(100);
  });

  test("does not get long names of its own back", () => {
    const [issue] = body.issues({ name: "ab", ["x".repeat(100_000)]: 1 });
    expect(issue?.path.length).toBeLessThan(300);
  });

  test("cannot smuggle fields through its prototype", () => {
    const value: unknown = JSON.parse('{"name":"ab","__proto__":{"count":"x"},"constructor":1}');
    expect(issuesOf(value)).toEqual(["/__proto__ unrecognized_keys", "/constructor unrecognized_keys"]);
  });
});

describe("a query", () => {
  const parse = compileQuery(
    Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      ratio: Type.Optional(Type.Number()),
      open: Type.Optional(Type.Boolean()),
      tag: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
      id: Type.Optional(Type.Array(Type.Integer())),
      bucketSec: Type.Optional(Type.Union([Type.Literal(60), Type.Literal(300)])),
      level: Type.Optional(Type.Union([Type.Literal("info"), Type.Literal("warn")])),
      q: Type.Optional(Type.String({ maxLength: 10 })),
    }),
  );

  test.each<[string, Record<string, unknown>]>([
    ["", {}],
    ["&", {}],
    ["limit=10", { limit: 10 }],
    ["limit=%31%30", { limit: 10 }],
    ["ratio=-0.5", { ratio: -0.5 }],
    ["open=true", { open: true }],
    ["open=false", { open: false }],
    ["tag=a&tag=b,c", { tag: ["a", "b,c"] }],
    ["id=1&id=2", { id: [1, 2] }],
    ["bucketSec=300", { bucketSec: 300 }],
    ["level=warn", { level: "warn" }],
    ["q=a+b%20c%2B", { q: "a b c+" }],
    ["q=", { q: "" }],
    ["q", { q: "" }],
    ["q=a=b", { q: "a=b" }],
    ["q=%F0%9F%98%80", { q: "😀" }],
    ["q=5", { q: "5" }],
  ])("%s means %j", (search, expected) => {
    const parsed: Record<string, unknown> = parse(search);
    expect(parsed).toEqual(expected);
  });

  test.each([
    ["limit=1e1", "/limit invalid_type"],
    ["limit=+10", "/limit invalid_type"],
    ["limit=%2B10", "/limit invalid_type"],
    ["limit=010", "/limit invalid_type"],
    ["limit=10.0", "/limit invalid_type"],
    ["limit=0x10", "/limit invalid_type"],
    ["limit=", "/limit invalid_type"],
    ["limit=9007199254740993", "/limit invalid_type"],
    ["limit=Infinity", "/limit invalid_type"],
    ["limit=0", "/limit too_small"],
    ["limit=1001", "/limit too_big"],
    ["limit=1&limit=1", "/limit invalid_type"],
    ["ratio=NaN", "/ratio invalid_type"],
    ["ratio=1.", "/ratio invalid_type"],
    [`ratio=${"9".repeat(400)}`, "/ratio invalid_type"],
    ["open=TRUE", "/open invalid_type"],
    ["open=1", "/open invalid_type"],
    ["tag=a&tag=b&tag=c&tag=d", "/tag too_big"],
    ["bucketSec=61", "/bucketSec invalid_literal"],
    ["level=INFO", "/level invalid_literal"],
    ["q=12345678901", "/q too_big"],
    ["q=%", "/q invalid_string"],
    ["q=%zz", "/q invalid_string"],
    ["q=%ff", "/q invalid_string"],
    ["%=1", "/ invalid_string"],
    ["Limit=1", "/Limit unrecognized_keys"],
    ["__proto__=1", "/__proto__ unrecognized_keys"],
    ["a/b=1", "/a~1b unrecognized_keys"],
  ])("%s is refused with %s", (search, issue) => {
    const fields = refusal(() => parse(search));
    expect(fields.map(({ path, code }) => `${path} ${code}`)).toContain(issue);
  });

  test("says which parameter was probably meant where one of them is near", () => {
    const messages = (search: string) => refusal(() => parse(search)).map(({ message }) => message);
    expect(messages("limt=5")).toEqual(["is not a known parameter; did you mean limit?"]);
    expect(messages("Limit=5")).toEqual(["is not a known parameter; did you mean limit?"]);
    expect(messages("elsewhere=5")).toEqual(["is not a known parameter"]);
  });

  test("of a route without parameters must be empty", () => {
    const none = compileQuery(undefined);
    expect<Record<string, unknown>>(none("")).toEqual({});
    expect(refusal(() => none("a=1"))).toMatchObject([{ path: "/a", code: "unrecognized_keys" }]);
  });
});

function refusal(work: () => unknown): readonly FieldIssue[] {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError && error.fields !== undefined) return error.fields;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("formats", () => {
  const accepts = <S extends TSchema>(schema: S, value: unknown): value is Static<S> =>
    compileSchema(schema).check(value);
  const all = (format: string, values: readonly string[]) =>
    values.map((value) => [value, accepts(Type.String({ format }), value)]);

  test("date-time is RFC 3339 on a real day", () => {
    const good = [
      "2024-02-29T00:00:00Z",
      "1999-12-31T23:59:59.9Z",
      "2024-01-01T00:00:00+14:00",
      "0001-01-01T00:00:00Z",
    ];
    const bad = [
      "2023-02-29T00:00:00Z",
      "2024-13-01T00:00:00Z",
      "2024-04-31T00:00:00Z",
      "1900-02-29T00:00:00Z",
      "2024-01-01T24:00:00Z",
      "2024-01-01T00:60:00Z",
      "2024-01-01T23:59:60Z",
      "2024-01-01T00:00:00",
      "2024-01-01 00:00:00Z",
      "2024-01-01T00:00:00z",
      "2024-01-01",
      "2024-01-01T00:00:00.1234567890Z",
      "2024-01-01T00:00:00+25:00",
      "1700000000",
      "+02024-01-01T00:00:00Z",
      "2024-01-01T00:00:00Z\n",
      "",
    ];
    expect(all("date-time", good).filter(([, accepted]) => !accepted)).toEqual([]);
    expect(all("date-time", bad).filter(([, accepted]) => accepted)).toEqual([]);
  });

  test("email is an address on the internet", () => {
    const good = ["ana@example.com", "a.b+c@sub.example.co", "o'neil@example.org"];
    const bad = [
      "ana",
      "@example.com",
      "ana@",
      "ana@localhost",
      "a b@example.com",
      "ana@exa_mple.com",
      "a@[127.0.0.1]",
      "a@b..c",
      "a..b@example.com",
      "ana@-a.com",
      "ana@example.com\n",
      `${"a".repeat(65)}@example.com`,
      `a@${"b.".repeat(130)}com`,
    ];
    expect(all("email", good).filter(([, accepted]) => !accepted)).toEqual([]);
    expect(all("email", bad).filter(([, accepted]) => accepted)).toEqual([]);
  });

  test("uri is http or https with a host and without credentials", () => {
    const good = [
      "http://a.example",
      "https://a.example:8443/x?y#z",
      "http://127.0.0.1/",
      "http://[::1]/",
      "HTTPS://A.EXAMPLE/",
    ];
    const bad = [
      "javascript:alert(1)",
      "ftp://a.example",
      "http://",
      "http:///x",
      "//a.example",
      "a.example",
      "http://u:p@a.example",
      "http://a b",
      "http://a.example/\n",
      "http:\\\\a.example",
      "http://a.example:99999",
      "file:///etc/passwd",
      "",
    ];
    expect(all("uri", good).filter(([, accepted]) => !accepted)).toEqual([]);
    expect(all("uri", bad).filter(([, accepted]) => accepted)).toEqual([]);
  });
});
