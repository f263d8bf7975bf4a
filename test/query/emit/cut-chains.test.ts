import { afterAll, beforeAll, expect, test } from "bun:test";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { rowsOfQuery } from "../functions/answers.ts";
import { queryRunner } from "../query-store.ts";

let stores: TestStores;
let runner: QueryRunner;
beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

/** Texts of real numbers are long expressions: several of them in one SELECT are cut into SELECTs of their own. */
const LONG = 'strcat(tostring(r), tostring(r * 2), tostring(r * 3), tostring(r * 4)) contains "2.55.0"';

const SOURCES: readonly (readonly [source: string, rows: string])[] = [
  ["rows that stand in the query", 'datatable(a:string, r:real)["x", 2.5, "y", 3.1]'],
  [
    "expanded elements",
    'print x = dynamic([["x", 2.5], ["y", 3.1]]) | mv-expand x | extend a = tostring(x[0]), r = toreal(x[1])',
  ],
  [
    "expanded elements with their places",
    'print x = dynamic([["x", 2.5], ["y", 3.1]]) | mv-expand with_itemindex=i x | extend a = tostring(x[i - i]), r = toreal(x[1])',
  ],
  [
    "elements of an array in mv-apply",
    'print x = dynamic([["x", 2.5], ["y", 3.1]]) | mv-apply x on (extend a = tostring(x[0]), r = toreal(x[1]))',
  ],
  ["both sides of a join", 'datatable(a:string, r:real)["x", 2.5] | join (print a = "x") on a'],
  ["a range", 'range r from 2.5 to 3.0 step 1 | extend a = "x"'],
];

test("what an aggregate computes of a group and mentions twice is computed above a long chain", async () => {
  const aggregates = "percentiles_array(r, 50, 100), make_bag(bag_pack(a, r))";
  const rows = 'datatable(a:string, r:real)["x", 2.5, "y", 3.1]';
  expect(await rowsOfQuery(runner, `${rows} | search "2.5" or 17.25 | summarize ${aggregates}`)).toEqual([
    ["[2.5,2.5]", '{"x":2.5}'],
  ]);
});

for (const [source, rows] of SOURCES)
  test(`a long chain of expressions over ${source} finds its columns`, async () => {
    expect(await rowsOfQuery(runner, `${rows} | where ${LONG} | project a`)).toEqual([["x"]]);
    expect(await rowsOfQuery(runner, `${rows} | search "2.5" or 17.25 | project a`)).toEqual([["x"]]);
  });
