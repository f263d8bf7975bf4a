import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { complaintAbout, rowOfQuery, rowsOfQuery } from "./answers.ts";

let stores: TestStores;
let runner: QueryRunner;
beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

/** A dynamic value is its JSON text, nothing is the empty one; a long is decimal text, a timespan nanoseconds. */
type Cases = readonly (readonly [aggregate: string, value: unknown])[];

/** One row for each event; `code` and `load` may be null, `data` too. */
const EVENTS = `datatable(host: string, code: long, load: real, took: timespan, at: datetime, ok: bool, data: dynamic)[
  "web-2", 500, 0.5, 2s, datetime(2024-05-01), false, dynamic({"user":"ann","n":1}),
  "web-1", long(null), real(null), 1s, datetime(2024-05-03), true, dynamic(null),
  "web-2", 200, 2.5, 4s, datetime(2024-05-02), true, dynamic([1,2]),
  "", 404, 1.5, 3s, datetime(2024-05-04), bool(null), dynamic({"user":"bob","m":2})
]`;

async function expectAggregates(source: string, cases: Cases): Promise<void> {
  const columns = cases.map(([aggregate], i) => `a${i} = ${aggregate}`);
  const row = await rowOfQuery(runner, `${source} | summarize ${columns.join(", ")}`);
  expect(cases.map(([aggregate], i) => [aggregate, row[i]])).toEqual(cases.map((one) => [...one]));
}

describe("aggregates of numbers", () => {
  test("count rows, and leave nulls out of everything else", () =>
    expectAggregates(EVENTS, [
      ["count()", "4"],
      ["count(code)", "4"],
      ["countif(ok)", "2"],
      ["countif(code > 300)", "2"],
      ["sum(code)", "1104"],
      ["sum(load)", 4.5],
      ["sum(took)", "10000000000"],
      ["sumif(code, ok)", "200"],
      ["avg(code)", 368],
      ["avg(took)", "2500000000"],
      ["avg(at)", "1714651200000000000"],
      ["avgif(load, not(ok))", 0.5],
      ["binary_all_and(code)", "128"],
      ["binary_all_or(code)", "508"],
      ["binary_all_xor(code)", "168"],
    ]));

  test("spread as in Kusto: variances have ten decimals, and a deviation is the root of one", () =>
    expectAggregates("datatable(x: long)[1, 2, 3, 4, 5, 7]", [
      ["variance(x)", 4.6666666667],
      ["stdev(x)", Math.sqrt(4.6666666667)],
      ["variancep(x)", 3.8888888889],
      ["stdevp(x)", Math.sqrt(3.8888888889)],
      ["varianceif(x, x < 3)", 0.5],
      ["stdevif(x, x == 3)", 0],
      ["covariance(x, 2 * x)", 9.3333333333],
      ["covariancepif(x, x, x < 3)", 0.25],
    ]));

  test("answer NaN as soon as one value is", () =>
    expectAggregates("datatable(x: real, y: long)[1.0, 1, real(nan), 2, 3.0, 3]", [
      ["sum(x)", "nan"],
      ["min(x)", "nan"],
      ["max(x)", "nan"],
      ["maxif(x, y != 2)", 3],
    ]));

  test("take the nearest rank for a percentile, in the type of the values", () =>
    expectAggregates("range i from 1 to 24 step 1 | extend t = i * 1s, w = iff(i == 1, 100, 1)", [
      ["percentile(i, 0)", "1"],
      ["percentile(i, 5)", "2"],
      ["percentile(i, 25)", "6"],
      ["percentile(i, 50)", "12"],
      ["percentile(i, 95)", "23"],
      ["percentile(i, 100)", "24"],
      ["percentile(t, 50)", "12000000000"],
      ["percentile(i / 2.0, 50)", 6],
      ["percentilew(i, w, 50)", "1"],
      ["percentilew(i, w, 99)", "23"],
      ["percentiles_array(i, 25, 50)", "[6,12]"],
      ["percentiles_array(i, dynamic([50, 99.9]))", "[12,24]"],
    ]));
});

describe("aggregates that choose", () => {
  test("the smallest and largest of every type", () =>
    expectAggregates(EVENTS, [
      ["min(code)", "200"],
      ["max(code)", "500"],
      ["max(load)", 2.5],
      ["min(host)", ""],
      ["max(host)", "web-2"],
      ["max(took)", "4000000000"],
      ["min(at)", "1714521600000000000"],
      ["maxif(at, ok)", "1714694400000000000"],
      ["min(data.n)", "1"],
      ["max(data.user)", `"bob"`],
      ["minif(host, ok)", "web-1"],
    ]));

  test("dynamic numbers as numbers, and texts after them", () =>
    expectAggregates(`datatable(d: dynamic)[dynamic(9), dynamic(10), dynamic("a"), dynamic(null)]`, [
      ["min(d)", "9"],
      ["max(d)", `"a"`],
      ["maxif(d, toint(d) > 0)", "10"],
    ]));

  test("the row of an extreme, whatever is null in it", async () => {
    const rows = await rowsOfQuery(
      runner,
      `datatable(k: string, rank: long, v: long)[
        "a", 1, 10, "a", 3, long(null), "a", long(null), 30, "b", long(null), 40
      ] | summarize arg_max(rank, v), arg_min(rank, v) by k | sort by k asc`,
    );
    expect(rows).toEqual([
      ["a", "3", null, "1", "10"],
      ["b", null, "40", null, "40"],
    ]);
  });

  test("any value, but one that is there", () =>
    expectAggregates(EVENTS, [
      [`take_anyif(host, code == 404)`, ""],
      [`take_anyif(code, host == "web-1" or code == 500)`, "500"],
      [`take_anyif(took, code == 200)`, "4000000000"],
    ]));
});

describe("aggregates that collect", () => {
  test("keep the order of the rows, and put the elements of arrays in one by one", () =>
    expectAggregates(EVENTS, [
      ["make_list(host)", `["web-2","web-1","web-2",""]`],
      ["make_list(code)", "[500,200,404]"],
      ["make_list(code, 2)", "[500,200]"],
      ["make_list(took)", `["00:00:02","00:00:01","00:00:04","00:00:03"]`],
      ["make_list(data)", `[{"user":"ann","n":1},null,1,2,{"user":"bob","m":2}]`],
      ["make_list_if(code, ok)", "[200]"],
      ["make_list_with_nulls(code)", "[500,null,200,404]"],
      ["make_set(host)", `["web-2","web-1",""]`],
      ["make_set(host, 1)", `["web-2"]`],
      ["make_set_if(host, code > 100)", `["web-2",""]`],
      ["make_set(array_concat(data, dynamic([2,3])))", "[2,3,1]"],
      ["make_bag(data)", `{"user":"ann","n":1,"m":2}`],
      ["make_bag_if(data, code == 404)", `{"user":"bob","m":2}`],
    ]));

  test("follow a sort in front of them", async () => {
    const row = await rowOfQuery(
      runner,
      "range i from 1 to 5000 step 1 | extend r = hash(i) | sort by i desc | summarize make_list(i, 3), make_set(i % 7)",
    );
    expect(row).toEqual(["[5000,4999,4998]", "[2,1,0,6,5,4,3]"]);
  });

  test("count distinct values, of an estimate no more than its error beside them", () =>
    expectAggregates("range i from 1 to 1000000 step 1 | extend even = i % 2 == 0, few = i % 100", [
      ["count_distinct(i)", "1000000"],
      ["count_distinctif(few, even)", "50"],
      ["dcount(few)", "100"],
      ["dcountif(few, even, 4)", "50"],
      ["abs(dcount(i) - 1000000) < 20000", true],
    ]));
});

describe("aggregates of nothing", () => {
  const cases: Cases = [
    ["count()", "0"],
    ["sum(code)", "0"],
    ["avg(code)", "nan"],
    ["avg(took)", null],
    ["min(code)", null],
    ["max(host)", ""],
    ["max(data)", ""],
    ["stdev(load)", 0],
    ["variancep(load)", 0],
    ["covariance(load, load)", 0],
    ["percentile(code, 50)", null],
    ["make_list(code)", "[]"],
    ["make_list_if(code, ok)", "[]"],
    ["make_set(host)", "[]"],
    ["make_bag(data)", "{}"],
    ["dcount(code)", "0"],
    ["dcountif(code, ok)", "0"],
    ["binary_all_or(code)", null],
  ];

  test("make one row without keys", () => expectAggregates(`${EVENTS} | where took > 1h`, cases));

  test("make no row with keys", async () => {
    expect(await rowsOfQuery(runner, `${EVENTS} | where took > 1h | summarize sum(code) by host`)).toEqual(
      [],
    );
  });

  test("are the same where nothing but nulls is", () =>
    expectAggregates(`${EVENTS} | where isnull(code)`, [
      ["sum(code)", "0"],
      ["avg(code)", "nan"],
      ["max(code)", null],
      ["make_list(code)", "[]"],
      ["dcount(code)", "0"],
      ["stdev(load)", 0],
    ]));
});

test("arguments that cannot be honoured are refused", () => {
  expect(complaintAbout("print x = 1 | summarize dcount(x, 9)")?.message).toContain("accuracy");
  expect(complaintAbout("print x = 1 | summarize percentile(x, 101)")?.message).toContain("from 0 to 100");
  expect(complaintAbout("print x = 1 | summarize make_list(x, 0)")?.message).toContain("constant above 0");
});

test("percentiles and extremes of random values are those of the sorted list", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 0, max: 100 }),
      async (values, percentage) => {
        const sorted = values.toSorted((a, b) => a - b);
        const rank = Math.max(Math.ceil((percentage * values.length) / 100), 1);
        const row = await rowOfQuery(
          runner,
          `datatable(x: long)[${values.join(", ")}] | summarize percentile(x, ${percentage}), min(x), max(x), count_distinct(x)`,
        );
        expect(row).toEqual([sorted[rank - 1], sorted[0], sorted.at(-1), new Set(values).size].map(String));
      },
    ),
    { numRuns: 25 },
  );
});
