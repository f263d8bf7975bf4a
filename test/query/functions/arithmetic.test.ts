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

const NUMBERS: readonly Case[] = [
  ["int(2147483647) + int(1)", 2147483648],
  ["gettype(int(1) + int(1))", "long"],
  ["gettype(1 + 1.5)", "real"],
  ["gettype(decimal(1) + 1)", "decimal"],
  ["9223372036854775807 + tolong('1')", "-9223372036854775808"],
  ["1 + int(null)", null],
  ["7 / 2", 3],
  ["-7 / 2", -3],
  ["7 / -2", -3],
  ["7 / 2.0", 3.5],
  ["7 / 0", null],
  ["tolong('-9223372036854775808') / tolong('-1')", null],
  ["1.0 / 0", "inf"],
  ["0.0 / 0.0", "nan"],
  ["-1.0 / 0.0", "-inf"],
  ["7 / 2 * 2", 6],
  ["14 % 12", 2],
  ["-14 % 12", 10],
  ["14 % -12", 2],
  ["-14 % -12", 10],
  ["5 % 0", null],
  ["int(5) % int(3)", 2],
  ["-7.5 % 2", 0.5],
  ["7 % 2.5", 2],
  ["2 * 3 - 10", -4],
  ["-toint('5')", -5],
  ["gettype(-toint('5'))", "long"],
  ["-todouble('1.5')", -1.5],
  ["toint('') * 0", null],
];

const TIMES: readonly Case[] = [
  ["datetime(2021-05-03) + 1d", "2021-05-04T00:00:00Z"],
  ["1h + datetime(2021-05-03)", "2021-05-03T01:00:00Z"],
  ["datetime(2021-05-03) - 36h", "2021-05-01T12:00:00Z"],
  ["datetime(2021-05-03) + totimespan('02:00')", "2021-05-03T02:00:00Z"],
  ["todatetime('2021-05-03') - totimespan('02:00')", "2021-05-02T22:00:00Z"],
  ["datetime(2021-05-03) - datetime(2021-01-01)", "122.00:00:00"],
  ["datetime(2021-01-01) - datetime(2021-05-03)", "-122.00:00:00"],
  ["todatetime('1960-01-01 06:00') - 12h", "1959-12-31T18:00:00Z"],
  ["datetime(2021-05-03) - datetime(null)", null],
  ["(datetime(2021-05-03) - datetime(2021-05-02)) / 1h", 24],
  ["1d + 2h", "1.02:00:00"],
  ["1d - 25h", "-01:00:00"],
  ["-1d", "-1.00:00:00"],
  ["-totimespan('1d')", "-1.00:00:00"],
  ["2 * 90m", "03:00:00"],
  ["90m * toint('2')", "03:00:00"],
  ["1d * 1.5", "1.12:00:00"],
  ["0.5 * totimespan('1d')", "12:00:00"],
  ["1d / 1h", 24],
  ["15ms / 10ms", 1.5],
  ["1d / 0s", "inf"],
  ["1s / 1000", "00:00:00.001"],
  ["1s / 0", null],
  ["1d / 1.5", "16:00:00"],
  ["-1h % 1d", "23:00:00"],
  ["50h % totimespan('1d')", "02:00:00"],
  ["1h % 0s", null],
  ["datetime(2021-05-03 10:20) % 1h", "00:20:00"],
  ["todatetime('1955-05-03') % totimespan('7d')", "1.00:00:00"],
  ["datetime(2021-05-03) % 0s", null],
  ["datetime(2021-05-03) / 1d", 737912],
];

const OUT_OF_RANGE: readonly Case[] = [
  ["todatetime('2262-04-11') + 2d", null],
  ["todatetime('1900-01-01') - 1tick", null],
  ["todatetime('1900-01-01') + totimespan('-1tick')", null],
  ["todatetime('2262-04-11') - totimespan('-2d')", null],
  ["todatetime('2262-01-01') - todatetime('1900-01-01')", null],
  ["todatetime('1900-01-01') - todatetime('2262-01-01')", null],
  ["todatetime('1900-01-01') + 106751d", "2192-04-10T00:00:00Z"],
  ["totimespan('100000d') + totimespan('100000d')", null],
  ["totimespan('-100000d') - totimespan('100000d')", null],
  ["totimespan('100000d') * 2", null],
  ["totimespan('100000d') * 1e10", null],
  ["totimespan('1d') * todouble('nan')", null],
  ["totimespan('1d') / 0.0", null],
];

describe("arithmetic", () => {
  test("of numbers has the engine's results and types", async () => {
    expect(await wrongCases(queryRunner(stores), NUMBERS)).toEqual([]);
  });

  test("of times and spans has the engine's results and types", async () => {
    expect(await wrongCases(queryRunner(stores), TIMES)).toEqual([]);
  });

  test("gives null for times and spans that cannot be held, never another one", async () => {
    expect(await wrongCases(queryRunner(stores), OUT_OF_RANGE)).toEqual([]);
  });

  test("is the same for columns as for constants", async () => {
    const query =
      "datatable(i:int, j:int, r:real, t:datetime, s:timespan)[7, 2, 2.5, datetime(2021-05-03), 1h, " +
      "-7, 0, 0.0, datetime(1950-01-01 00:30), -1h, int(null), 3, real(null), datetime(null), timespan(null)] " +
      "| project i / j, i % j, i + r, t + s, t - s, s * j, s / 2, -i, abs(s)";
    expect(await answered(queryRunner(stores), query)).toEqual([
      [3, 1, 9.5, "2021-05-03T01:00:00Z", "2021-05-02T23:00:00Z", "02:00:00", "00:30:00", -7, "01:00:00"],
      [
        null,
        null,
        -7,
        "1949-12-31T23:30:00Z",
        "1950-01-01T01:30:00Z",
        "00:00:00",
        "-00:30:00",
        7,
        "01:00:00",
      ],
      [null, null, null, null, null, null, null, null, null],
    ]);
  });

  test("of types that do not go together is refused", () => {
    for (const expression of [
      "'a' + 'b'",
      "datetime(2021-05-03) + datetime(2021-05-03)",
      "1d + 1",
      "true + 1",
    ])
      expect(compileKql(`print ${expression}`, { nowNs: 0n }).ok).toBe(false);
  });
});
