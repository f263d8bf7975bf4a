import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { answered, type Case, printed, wrongCases } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const MATH: readonly Case[] = [
  ["abs(-5)", 5],
  ["abs(-5.5)", 5.5],
  ["abs(-90m)", "01:30:00"],
  ["abs(int(null))", null],
  ["gettype(abs(int(-5)))", "long"],
  ["gettype(round(int(5)))", "int"],
  ["ceiling(0.1)", 1],
  ["ceiling(-1.5)", -1],
  ["ceiling(7)", 7],
  ["round(2.5)", 3],
  ["round(-2.5)", -3],
  ["round(3.25, 1)", 3.3],
  ["round(100000.5, 1)", 100000.5],
  ["round(1234.5, -2)", 1200],
  ["round(1250, -2)", 1300],
  ["round(7)", 7],
  ["round(1e300, 5)", 1e300],
  ["round(real(null), 2)", null],
  ["round(0.125, 400)", 0.125],
  ["sign(-3)", -1],
  ["sign(0.0)", 0],
  ["sqrt(16)", 4],
  ["sqrt(-1)", "nan"],
  ["pow(2, 10)", 1024],
  ["pow(0.0, -1)", "inf"],
  ["exp(0)", 1],
  ["exp(1e6)", "inf"],
  ["exp2(10)", 1024],
  ["exp2(real(null))", null],
  ["exp10(3)", 1000],
  ["exp10(-1)", 0.1],
  ["log(1)", 0],
  ["log(-1)", null],
  ["log(0.0)", "-inf"],
  ["log2(8)", 3],
  ["log2(-8)", null],
  ["log10(1000)", 3],
  ["log10(-1.5)", null],
  ["gamma(5)", 24],
  ["gamma(0.5) > 1.77", true],
  ["loggamma(1)", 0],
  ["loggamma(10) > 12.8", true],
  ["erf(0)", 0],
  ["erf(100)", 1],
  ["erfc(0)", 1],
  ["erfc(100)", 0],
  ["sin(0)", 0],
  ["cos(0)", 1],
  ["tan(0)", 0],
  ["round(cot(1), 9)", 0.642092616],
  ["asin(0)", 0],
  ["asin(2)", "nan"],
  ["acos(1)", 0],
  ["acos(-2)", "nan"],
  ["atan(0)", 0],
  ["atan2(1, 1) == pi() / 4", true],
  ["atan2(0, -1) == pi()", true],
  ["degrees(pi())", 180],
  ["radians(180) == pi()", true],
  ["isnan(0.0 / 0.0)", true],
  ["isnan(5)", false],
  ["isnan(real(null))", null],
  ["isinf(1.0 / 0.0)", true],
  ["isinf(1.5)", false],
  ["isfinite(1.5)", true],
  ["isfinite(-1.0 / 0.0)", false],
];

const BITS: readonly Case[] = [
  ["binary_and(12, 10)", 8],
  ["binary_and(12, long(null))", null],
  ["binary_or(12, 10)", 14],
  ["binary_or(int(1), int(2))", 3],
  ["binary_xor(12, 10)", 6],
  ["binary_xor(-1, 0)", -1],
  ["binary_not(0)", -1],
  ["binary_not(-8)", 7],
  ["binary_shift_left(1, 40)", 1099511627776],
  ["binary_shift_left(1, 65)", 2],
  ["binary_shift_left(1, -1)", null],
  ["binary_shift_right(-16, 2)", -4],
  ["binary_shift_right(5, -1)", null],
  ["bitset_count_ones(255)", 8],
  ["bitset_count_ones(-1)", 64],
  ["tohex(255)", "ff"],
  ["tohex(0)", "0"],
  ["tohex(-1)", "ffffffffffffffff"],
  ["tohex(toint(-1))", "ffffffff"],
  ["tohex(255, 6)", "0000ff"],
  ["tohex(255, 99)", "00000000000000ff"],
  ["tohex(long(null))", ""],
];

const BINS: readonly Case[] = [
  ["bin(17, 5)", 15],
  ["bin(-4, 5)", -5],
  ["bin(4, -1)", null],
  ["bin(4, tolong('0'))", null],
  ["bin(4.75, 0.5)", 4.5],
  ["bin(-0.25, 1)", -1],
  ["bin(4.5, 0)", null],
  ["floor(2.75, 1)", 2],
  ["floor(long(null), 2)", null],
  ["gettype(bin(int(7), int(2)))", "long"],
  ["bin(50h, 1d)", "2.00:00:00"],
  ["bin(-1h, 1d)", "-1.00:00:00"],
  ["bin(datetime(2021-05-05 13:14:15.678), 1m)", "2021-05-05T13:14:00Z"],
  ["bin(todatetime('1955-05-05 13:14:15'), 1h)", "1955-05-05T13:00:00Z"],
  ["bin(datetime(2021-05-05 13:14:15), 7d)", "2021-05-03T00:00:00Z"],
  ["bin(todatetime('1955-05-05'), 7d)", "1955-05-02T00:00:00Z"],
  ["bin(datetime(2021-05-05), totimespan('7d'))", "2021-05-03T00:00:00Z"],
  ["bin(datetime(2021-05-05 00:00:01), 700ms)", "2021-05-05T00:00:00.6Z"],
  ["bin(datetime(2021-05-05), -1h)", null],
  ["bin(datetime(2021-05-05), timespan(null))", null],
  ["bin(datetime(null), 1h)", null],
  ["bin(todatetime('1900-01-01'), 30d)", null],
  ["bin_at(6.5, 2.5, 7)", 4.5],
  ["bin_at(17, 10, 3)", 13],
  ["bin_at(17, -10, 3)", null],
  ["bin_at(-1h, 1d, 1h)", "-23:00:00"],
  ["bin_at(datetime(2021-05-05 10:00), 1d, datetime(2021-01-01 12:00))", "2021-05-04T12:00:00Z"],
  ["bin_at(todatetime('1955-05-05 10:00'), 7d, datetime(2021-05-02))", "1955-05-01T00:00:00Z"],
];

test("functions of numbers have the engine's results", async () => {
  expect(await wrongCases(queryRunner(stores), MATH)).toEqual([]);
});

test("functions of bits have the engine's results", async () => {
  expect(await wrongCases(queryRunner(stores), BITS)).toEqual([]);
});

test("bins begin where the engine's do, below zero and before 1970 too", async () => {
  expect(await wrongCases(queryRunner(stores), BINS)).toEqual([]);
});

test("random numbers stay inside their range and differ from row to row", async () => {
  const [small, large] = await printed(queryRunner(stores), ["rand()", "rand(10)"]);
  expect(Number(small)).toBeWithin(0, 1);
  expect(Number(large)).toBeWithin(0, 10);
  expect(Number.isInteger(large)).toBe(true);
  const [row] = await answered(
    queryRunner(stores),
    "range i from 1 to 100 step 1 | summarize dcount(rand())",
  );
  expect(Number(row?.[0])).toBeGreaterThan(90);
});

test("every second of bins of a column is that of a constant", async () => {
  const rows = await answered(
    queryRunner(stores),
    "range t from datetime(1969-12-30) to datetime(1970-01-02) step 7h | project day = bin(t, 1d), start = startofday(t) | where day != start",
  );
  expect(rows).toEqual([]);
});
