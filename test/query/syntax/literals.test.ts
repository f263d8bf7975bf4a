import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readDatetime, writeDatetime } from "../../../query/syntax/datetime-text.ts";
import { parseQuery } from "../../../query/syntax/parser.ts";
import { readTimespan, writeTimespan } from "../../../query/syntax/timespan-text.ts";

const SECOND = 1_000_000_000n;
const HOUR = 3_600n * SECOND;
const DAY = 24n * HOUR;

/** The literal a text is. */
function literal(text: string): unknown {
  const body = parseQuery(`print x = ${text}`).query?.body;
  const [operator] = body?.kind === "pipeline" ? body.operators : [];
  const value = operator?.kind === "print" ? operator.assignments[0]?.value : undefined;
  if (value?.kind === "dynamic") return value.json;
  return value?.kind === "literal" ? [value.type, value.value] : value;
}

function refusal(text: string): string | undefined {
  return parseQuery(`print x = ${text}`).problems[0]?.message;
}

describe("a datetime literal", () => {
  const DATE = Date.UTC(2014, 10, 8);
  const TIME = Date.UTC(2014, 10, 8, 15, 5, 2);
  test.each<[string, number]>([
    ["2014-11-08", DATE],
    ["2014-11", Date.UTC(2014, 10, 1)],
    ["2014", Date.UTC(2014, 0, 1)],
    ["2014-11-8", DATE],
    ["2014-11-08T15:05:02Z", TIME],
    ["2014-11-08T15:05:02", TIME],
    ["2014-11-08T15:05", Date.UTC(2014, 10, 8, 15, 5)],
    ["2014-11-08 15:05:02", TIME],
    ["2014-11-08 15:05:02Z", TIME],
    ["2014-11-08 15:05:02 GMT", TIME],
    ["2014-11-08T15:05:02.5Z", TIME + 500],
    ["2014-11-08T15:05:02+02:00", TIME - 7_200_000],
    ["2014-11-08T15:05:02 -0330", TIME + 12_600_000],
    ["2014/11/08", DATE],
    ["20141108", DATE],
    ["2014, 11, 8", DATE],
    ["2014 - 11 - 08", DATE],
    ["11/8/2014", DATE],
    ["11/08/2014 3:05:02 PM", TIME],
    ["Sat, 8 Nov 14 15:05:02 GMT", TIME],
    ["Sat, 8 Nov 14 15:05:02", TIME],
    ["Sat, 8 Nov 14 15:05", Date.UTC(2014, 10, 8, 15, 5)],
    ["8 Nov 14 15:05:02 GMT", TIME],
    ["8 Nov 2014", DATE],
    ["Saturday, 08-Nov-14 15:05:02 UTC", TIME],
    ["08-Nov-14 15:05:02", TIME],
    ["November 8, 2014", DATE],
    ["0001-01-01", Date.parse("0001-01-01T00:00:00Z")],
    ["9999-12-31", Date.UTC(9999, 11, 31)],
    ["2024-02-29", Date.UTC(2024, 1, 29)],
  ])("%s", (text, ms) => {
    expect(readDatetime(text)).toBe(BigInt(ms) * 1_000_000n);
    expect(literal(`datetime(${text})`)).toEqual(["datetime", BigInt(ms) * 1_000_000n]);
  });

  test("keeps nanoseconds", () => {
    expect(readDatetime("1969-12-31T23:59:59.123456789Z")).toBe(-876_543_211n);
  });

  test.each([
    "",
    "x",
    "2014-13-01",
    "2014-02-30",
    "2023-02-29",
    "2014-11-08 25:00",
    "2014-11-08 10:61",
    "0000-01-01",
    "13/13/2014",
    "2014-11-08T10:00:00+99:00",
    "14",
  ])("%s is none", (text) => {
    expect(readDatetime(text)).toBeUndefined();
  });

  test("that is written as Kusto does is read again", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -62_135_596_800n * 10_000_000n, max: 253_402_300_799n * 10_000_000n }),
        (ticks) => {
          expect(readDatetime(writeDatetime(ticks * 100n))).toBe(ticks * 100n);
        },
      ),
    );
  });

  test("without a body is the time of the query", () => {
    expect(literal("datetime()")).toMatchObject({ kind: "call", name: { name: "now" } });
  });
});

describe("a timespan", () => {
  test.each<[string, bigint]>([
    ["2d", 2n * DAY],
    ["1.5h", 90n * 60n * SECOND],
    ["5m", 300n * SECOND],
    ["10s", 10n * SECOND],
    ["100ms", SECOND / 10n],
    ["10micro", 10_000n],
    ["10microseconds", 10_000n],
    ["3nano", 3n],
    ["1tick", 100n],
    ["2days", 2n * DAY],
    ["3hrs", 3n * HOUR],
    ["1hour", HOUR],
    ["2min", 120n * SECOND],
    ["30sec", 30n * SECOND],
    ["5milli", 5_000_000n],
    ["time(2)", 2n * DAY],
    ["time(2.5)", 60n * HOUR],
    ["timespan(1.02:03:04)", DAY + 2n * HOUR + 184n * SECOND],
    ["time(1.02:03:04.5)", DAY + 2n * HOUR + 184n * SECOND + SECOND / 2n],
    ["time(10:30)", 10n * HOUR + 1800n * SECOND],
    ["time(-1.00:00:00)", -DAY],
    ["time('00:00:05')", 5n * SECOND],
    ["time(1d)", DAY],
    ["time(15 seconds)", 15n * SECOND],
  ])("%s", (text, ns) => {
    expect(literal(text)).toEqual(["timespan", ns]);
  });

  test("out of range or out of form is refused", () => {
    expect(refusal("time(1:2:3:4:5)")).toContain("is no timespan");
    expect(refusal("time(25:00)")).toContain("is no timespan");
    expect(refusal("999999999d")).toContain("is too long");
    expect(refusal("time()")).toContain("is no timespan");
  });

  test("that is written as Kusto does is read again", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 56n), max: 2n ** 56n }), (ticks) => {
        expect(readTimespan(writeTimespan(ticks * 100n))).toBe(ticks * 100n);
      }),
    );
    expect(writeTimespan(DAY)).toBe("1.00:00:00");
  });
});

describe("other literals", () => {
  test.each<[string, unknown]>([
    ["true", ["bool", true]],
    ["False", ["bool", false]],
    ["bool(1)", ["bool", true]],
    ["bool(null)", ["bool", null]],
    ["5", ["long", 5n]],
    ["0x1F", ["long", 31n]],
    ["long(-5)", ["long", -5n]],
    ["-9223372036854775808", ["long", -(2n ** 63n)]],
    ["int(2147483647)", ["int", 2_147_483_647n]],
    ["1.5", ["real", 1.5]],
    ["1e3", ["real", 1000]],
    ["real(1)", ["real", 1]],
    ["real(nan)", ["real", Number.NaN]],
    ["real(-inf)", ["real", Number.NEGATIVE_INFINITY]],
    ["double(2.5)", ["real", 2.5]],
    ["decimal(0.1)", ["decimal", "0.1"]],
    ["guid(74BE27DE-1e4e-49d9-b579-fe0b331d3642)", ["guid", "74be27de-1e4e-49d9-b579-fe0b331d3642"]],
    ["'a' \"b\"", ["string", "ab"]],
  ])("%s", (text, value) => {
    expect(literal(text)).toEqual(value);
  });

  test.each([
    ["9223372036854775808", "The number `9223372036854775808` is too large for a long."],
    ["int(2147483648)", "`2147483648` is no int: write int(5), from -2147483647 to 2147483647."],
    ["int(x)", "`x` is no int; int(...) takes a literal, toint(...) converts a value."],
    ["datetime(strcat('a'))", "datetime(...) takes a literal; todatetime(...) converts a value."],
    ["guid(1)", "`1` is no guid: write guid(01234567-89ab-cdef-0123-456789abcdef)."],
  ])("%s is refused", (text, message) => {
    expect(refusal(text)).toBe(message);
  });

  test.each([
    ["dynamic(null)", "null"],
    ["dynamic([1, -2.5, 'x', true, null])", '[1,-2.5,"x",true,null]'],
    [`dynamic({'a': {"b": []}})`, '{"a":{"b":[]}}'],
    [
      "dynamic([datetime(2020-01-01), 1h, time(1d)])",
      '["2020-01-01T00:00:00.0000000Z","01:00:00","1.00:00:00"]',
    ],
    ["dynamic(9223372036854775808)", "9223372036854775808"],
    ["dynamic('a' 'b')", '"ab"'],
    ["dynamic(dynamic([1]))", "[1]"],
    ['dynamic({"a": 1, "a": 2})', '{"a":1,"a":2}'],
  ])("%s", (text, json) => {
    expect(literal(text)).toBe(json);
  });

  test("any JSON is a dynamic literal", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const json = literal(`dynamic(${JSON.stringify(value)})`);
        expect(typeof json === "string" ? JSON.parse(json) : json).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
