import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { compileKql } from "../../../query/index.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { answered, type Case, wrongCases } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** The results of one function for several texts. */
function ofTexts(name: string, results: Readonly<Record<string, unknown>>): Case[] {
  return Object.entries(results).map(([text, value]) => [`${name}(${JSON.stringify(text)})`, value]);
}

const TEXTS: readonly Case[] = [
  ...ofTexts("toint", { "12": 12, " \t12 ": 12, "+7": 7, "-0": 0, "007": 7, "0x1F": 31, "0X1f": 31 }),
  ...ofTexts("toint", {
    "": null,
    x: null,
    "1.5": null,
    "1e3": null,
    "-0x10": null,
    "1_0": null,
    "0x": null,
  }),
  ...ofTexts("toint", { "2147483647": 2147483647, "2147483648": null, "0x123456789": null }),
  ...ofTexts("tolong", { "9223372036854775807": "9223372036854775807", "9223372036854775808": null }),
  ...ofTexts("tolong", { "0xFFFFFFFFFFFFFFFF": -1, "-5": -5, "5.0": null, "": null }),
  ...ofTexts("todouble", {
    "1.5": 1.5,
    ".5": 0.5,
    "5.": 5,
    "1.5E+3": 1500,
    " nan ": "nan",
    Inf: "inf",
    "-inf": "-inf",
  }),
  ...ofTexts("toreal", {
    Infinity: "inf",
    INF: null,
    "0x10": null,
    "1d": null,
    "": null,
    "1_0": null,
    "1e999": "inf",
  }),
  ...ofTexts("todecimal", { "1.25": 1.25, x: null }),
  ...ofTexts("tobool", {
    true: true,
    FALSE: false,
    " True ": null,
    "1": true,
    "0": false,
    "-1": true,
    "0x0": false,
  }),
  ...ofTexts("toboolean", { yes: null, "1.0": null, "": null, true: true }),
  ...ofTexts("toguid", {
    "0123456789ABCDEF0123456789abcdef": "01234567-89ab-cdef-0123-456789abcdef",
    "01234567-89ab-cdef-0123-456789abcdef": "01234567-89ab-cdef-0123-456789abcdef",
    "0123": "",
  }),
];

const TIMES: readonly Case[] = [
  ...ofTexts("todatetime", {
    "2021-05-03": "2021-05-03T00:00:00Z",
    "2021-05-03 10:20": "2021-05-03T10:20:00Z",
    "2021-05-03T10:20:30.1234567Z": "2021-05-03T10:20:30.1234567Z",
    "2021-05-03T10:20:30+02:00": "2021-05-03T08:20:30Z",
    "05-03-2021": "2021-05-03T00:00:00Z",
    "5/3/2021 1:02 PM": "2021-05-03T13:02:00Z",
    "Mon, 3 May 2021 10:20:30 GMT": "2021-05-03T10:20:30Z",
    "May 3, 2021": "2021-05-03T00:00:00Z",
    "Monday, 03-May-21 10:20:30 UTC": "2021-05-03T10:20:30Z",
    "3 May 55 10:20": "1955-05-03T10:20:00Z",
    "3-December-2021": "2021-12-03T00:00:00Z",
    "1955-05-03": "1955-05-03T00:00:00Z",
  }),
  ...ofTexts("todatetime", {
    "13-05-2021": null,
    "2021-02-30": null,
    "2021-13-01": null,
    "2021-05-03 25:00": null,
  }),
  ...ofTexts("todatetime", {
    "": null,
    x: null,
    "1700000000": null,
    "10:20": null,
    "1899-12-31": null,
    "2262-05-01": null,
  }),
  ["todatetime(637555968000000000)", "2021-05-03T00:00:00Z"],
  ["todatetime(0)", null],
  ["todatetime(9223372036854775807)", null],
  ...ofTexts("totimespan", {
    "1.02:03:04.5": "1.02:03:04.5",
    "-00:30": "-00:30:00",
    "1d": "1.00:00:00",
    "-90s": "-00:01:30",
    "1.5h": "01:30:00",
    "3": "3.00:00:00",
  }),
  ...ofTexts("totimespan", {
    "": null,
    x: null,
    "1.5": null,
    "25:00": null,
    "12:60": null,
    "1parsec": null,
    "99999999d": null,
  }),
  ["totimespan(36000000000)", "01:00:00"],
  ["totimespan(9223372036854775807)", null],
  ["totime('00:00:01')", "00:00:01"],
];

const NUMBERS: readonly Case[] = [
  ["toint(2.9)", 2],
  ["toint(-2.9)", -2],
  ["toint(1e19)", 2147483647],
  ["toint(2147483648)", -2147483648],
  ["toint(true)", 1],
  ["toint(bool(null))", null],
  ["tolong(-1e19)", "-9223372036854775808"],
  ["tolong(1.0 / 0)", null],
  ["tolong(0.0 / 0)", null],
  ["tolong(real(null))", null],
  ["tolong(datetime(2021-05-03))", "637555968000000000"],
  ["tolong(todatetime('1969-12-31 23:59:59.9999999'))", "621355967999999999"],
  ["tolong(1h)", 36000000000],
  ["todouble(int(5))", 5],
  ["todouble(false)", 0],
  ["todouble(1s)", 10000000],
  ["todecimal(0.5)", 0.5],
  ["tobool(0)", false],
  ["tobool(0.5)", true],
  ["tobool(long(null))", null],
  ["todatetime(datetime(null))", null],
  ["toguid(guid(01234567-89ab-cdef-0123-456789abcdef))", "01234567-89ab-cdef-0123-456789abcdef"],
];

const DYNAMIC: readonly Case[] = [
  ["toint(dynamic(1.9))", 1],
  ["toint(dynamic(2147483648))", -2147483648],
  ["toint(dynamic('2147483648'))", null],
  ["toint(dynamic('0x10'))", 16],
  ["toint(dynamic('1.5'))", null],
  ["toint(dynamic(true))", 1],
  ["toint(dynamic('true'))", null],
  ["tolong(dynamic([1]))", null],
  ["tolong(dynamic(null))", null],
  ["tolong(dynamic(' 7 '))", 7],
  ["todouble(dynamic('1.5'))", 1.5],
  ["todouble(dynamic(false))", 0],
  ["todouble(dynamic({'a':1}))", null],
  ["tobool(dynamic('42'))", true],
  ["tobool(dynamic('True'))", true],
  ["tobool(dynamic(0.5))", true],
  ["tobool(dynamic('x'))", null],
  ["todatetime(dynamic('2021-05-03'))", "2021-05-03T00:00:00Z"],
  ["todatetime(dynamic(637555968000000000))", "2021-05-03T00:00:00Z"],
  ["totimespan(dynamic('1h'))", "01:00:00"],
  ["totimespan(dynamic(null))", null],
  ["toguid(dynamic('0123'))", ""],
  ["tostring(dynamic('a\"b'))", 'a"b'],
  ["tostring(dynamic({'a':[1,2]}))", '{"a":[1,2]}'],
  ["tostring(dynamic(true))", "true"],
  ["tostring(dynamic(null))", ""],
];

const AS_TEXT: readonly Case[] = [
  ["tostring(5)", "5"],
  ["tostring(long(null))", ""],
  ["tostring(true)", "True"],
  ["tostring(bool(null))", ""],
  ["tostring(1.0)", "1.0"],
  ["tostring(0.1)", "0.1"],
  ["tostring(1e15)", "1000000000000000.0"],
  ["tostring(1e16)", "1e+16"],
  ["tostring(-1.5e300)", "-1.5e+300"],
  ["tostring(12345678901234567890.0)", "1.2345678901234567e+19"],
  ["tostring(0.0001)", "0.0001"],
  ["tostring(0.0000125)", "1.25e-05"],
  ["tostring(2.5e-10)", "2.5e-10"],
  ["tostring(0.0 / 0.0)", "NaN"],
  ["tostring(-1.0 / 0)", "-inf"],
  ["tostring(real(null))", ""],
  ["tostring(datetime(2021-05-03 10:20:30.5))", "2021-05-03T10:20:30.5000000Z"],
  ["tostring(todatetime('1955-05-03'))", "1955-05-03T00:00:00.0000000Z"],
  ["tostring(datetime(null))", ""],
  ["tostring(1d)", "1.00:00:00"],
  ["tostring(-90m)", "-01:30:00"],
  ["tostring(1tick)", "00:00:00.0000001"],
  ["tostring(timespan(null))", ""],
  ["tostring(guid(01234567-89ab-cdef-0123-456789abcdef))", "01234567-89ab-cdef-0123-456789abcdef"],
];

describe("conversions give the engine's values, and null instead of an error,", () => {
  test.each([
    ["from texts to numbers, truth values and guids", TEXTS],
    ["to times and spans", TIMES],
    ["from numbers, times and spans", NUMBERS],
    ["from dynamic values", DYNAMIC],
    ["to texts", AS_TEXT],
  ])("%s", async (_, cases) => {
    expect(await wrongCases(queryRunner(stores), cases)).toEqual([]);
  });

  test("row by row as for constants", async () => {
    const query =
      'datatable(s:string, d:dynamic)["0x10", dynamic("0x10"), "1.5", dynamic(1.5), "", dynamic(null), "2021-05-03", dynamic("1h")] ' +
      "| project toint(s), tolong(d), todouble(s), todouble(d), tobool(s), todatetime(s), totimespan(d), tostring(d)";
    expect(await answered(queryRunner(stores), query)).toEqual([
      [16, 16, null, null, true, null, null, "0x10"],
      [null, 1, 1.5, 1.5, null, null, null, "1.5"],
      [null, null, null, null, null, null, null, ""],
      [null, null, null, null, null, "2021-05-03T00:00:00Z", "01:00:00", "1h"],
    ]);
  });
});

test("a text that todatetime() reads can be compared with a time, and one of no form of a time cannot", () => {
  const compiles = (text: string) => compileKql(`logs | where ts > ${text}`, { nowNs: 0n }).ok;
  const read = TIMES.flatMap(([call, value]) => {
    const text = /^todatetime\((".*")\)$/.exec(call)?.[1];
    return text === undefined || value === null ? [] : [text];
  });
  expect(read.length).toBeGreaterThan(10);
  expect(read.filter((text) => !compiles(text))).toEqual([]);
  expect(['"2020"', '"abc"', '""', '"1700000000"', '"10:20"'].filter(compiles)).toEqual([]);
});

test("a conversion of more or fewer than one value is refused", () => {
  for (const text of ["tolong()", "tolong('1', '2')", "todatetime(true)", "toguid(5)"])
    expect(compileKql(`print ${text}`, { nowNs: 0n }).ok).toBe(false);
});
