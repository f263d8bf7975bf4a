import { afterAll, beforeAll, expect, test } from "bun:test";
import { compileKql } from "../../../query/index.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { answered, type Case, wrongCases } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

const CHOICES: readonly Case[] = [
  ["iff(1 < 2, 'yes', 'no')", "yes"],
  ["iff(bool(null), 'yes', 'no')", "no"],
  ["iif(false, 1, 2.5)", 2.5],
  ["iif(true, long(null), 3)", null],
  ["iff(true, dynamic({'a':1}), dynamic(null))", { a: 1 }],
  ["iff(true, 1h, 2h)", "01:00:00"],
  ["gettype(iff(true, int(1), 2.5))", "real"],
  ["case(1 > 2, 'a', 2 > 1, 'b', 'c')", "b"],
  ["case(1 > 2, 'a', bool(null), 'b', 'c')", "c"],
  ["case(true, 1, false, 2.5, 3)", 1],
  ["gettype(case(true, 1, false, 2.5, 3))", "real"],
  ["case(false, int(1), 7)", 7],
  ["case(true, dynamic('x'), 'y')", "x"],
  ["case(false, dynamic('5'), 7)", 7],
  ["gettype(case(true, dynamic('5'), 7))", "long"],
  ["case(dynamic(0), 'a', dynamic('true'), 'b', 'c')", "b"],
  ["case(true, 'a', 5)", "a"],
  ["case(false, 'a', 5)", 5],
  ["iff(true, 1h, datetime(2021-05-03))", "01:00:00"],
  ["iff(false, 1, dynamic('7'))", 7],
  ["gettype(iff(true, 5, 'a'))", "long"],
  ["case(false, datetime(2021-05-03), datetime(null))", null],
  ["coalesce(long(null), 5, 6)", 5],
  ["coalesce(int(null), 2.5)", 2.5],
  ["coalesce('', 'b')", "b"],
  ["coalesce('', '', '')", ""],
  ["coalesce(dynamic(null), dynamic([1]))", [1]],
  ["coalesce(datetime(null), datetime(2021-05-03))", "2021-05-03T00:00:00Z"],
  ["coalesce(real(null), real(null))", null],
  ["coalesce(bool(null), false)", false],
  ["max_of(3, 9, -2)", 9],
  ["max_of(1, 2.5)", 2.5],
  ["max_of(int(null), 3)", 3],
  ["max_of(datetime(2021-05-03), datetime(2020-05-03))", "2021-05-03T00:00:00Z"],
  ["min_of(3, 9, -2)", -2],
  ["min_of('b', 'a')", "a"],
  ["min_of(long(null), long(null))", null],
  ["min_of(1h, 1m)", "00:01:00"],
  ["around(5, 7, 2)", true],
  ["around(4.5, 7, 2)", false],
  ["around(datetime(2021-05-03), datetime(2021-05-04), 1d)", true],
  ["around(todatetime('2262-01-01'), todatetime('1900-01-01'), 1d)", false],
  ["around(9223372036854775807, -9223372036854775807, 1)", false],
  ["around(1h, 3h, 1h)", false],
  ["around(long(null), 1, 1)", null],
  ["not(1 > 2)", true],
  ["not(bool(null))", null],
];

const NULLS: readonly Case[] = [
  ["isnull('')", false],
  ["isnull(int(null))", true],
  ["isnull(5)", false],
  ["isnull(dynamic(null))", true],
  ["isnull(dynamic(''))", false],
  ["isnull(dynamic({'a':1}).b)", true],
  ["isnull(guid(null))", true],
  ["isnotnull('')", true],
  ["isnotnull(datetime(null))", false],
  ["isnotnull(dynamic([]))", true],
  ["notnull(1)", true],
  ["notnull(timespan(null))", false],
  ["gettype('a')", "string"],
  ["gettype(int(null))", "int"],
  ["gettype(1h)", "timespan"],
  ["gettype(dynamic(null))", "null"],
  ["gettype(dynamic(7))", "long"],
  ["gettype(dynamic(7.5))", "double"],
  ["gettype(dynamic('a'))", "string"],
  ["gettype(dynamic(false))", "bool"],
  ["gettype(dynamic([1]))", "array"],
  ["gettype(dynamic({'a':1}))", "dictionary"],
];

test("choices take null for false and skip nulls as the engine does", async () => {
  expect(await wrongCases(queryRunner(stores), CHOICES)).toEqual([]);
});

test("questions about null and types have the engine's answers", async () => {
  expect(await wrongCases(queryRunner(stores), NULLS)).toEqual([]);
});

test("choices work row by row", async () => {
  const query =
    "datatable(x:long, s:string)[1, 'a', long(null), '', 3, 'c'] " +
    "| project iff(x > 1, s, 'none'), case(isnull(x), -1, x > 2, x, 0), coalesce(x, 7), max_of(x, 2), coalesce(s, 'empty')";
  expect(await answered(queryRunner(stores), query)).toEqual([
    ["none", 0, 1, 2, "a"],
    ["none", -1, 7, 2, "empty"],
    ["c", 3, 3, 3, "c"],
  ]);
});

test("case() says which argument does not fit", () => {
  const refused = (text: string) => {
    const compiled = compileKql(`print ${text}`, { nowNs: 0n });
    return compiled.ok ? null : compiled.diagnostics[0]?.text;
  };
  expect(refused("case(true, 1, 'a', 2, 3)")).toBe("'a'");
  expect(refused("case(true, 'a', 5, 'b', 'c')")).toBe("5");
  expect(refused("case(true, 'a', false, 'b')")).toBe("'b'");
});
