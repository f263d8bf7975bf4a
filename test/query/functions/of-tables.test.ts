import { afterAll, beforeAll, expect, test } from "bun:test";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { complaintAbout, rowsOfQuery } from "./answers.ts";

let stores: TestStores;
let runner: QueryRunner;
beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

const T = 'let T = datatable(a:long, b:string)[1, "xy", 4, "é"]; ';

test("a range goes to what a table says", async () => {
  const upTo = (end: string) => rowsOfQuery(runner, `${T}range x from toscalar(T | count) to ${end} step 2`);
  expect(await upTo("toscalar(T | summarize sum(a) + 2)")).toEqual([["2"], ["4"], ["6"]]);
  expect(await upTo("toscalar(T | where a > 9 | project a)")).toEqual([]);
});

test("the size of a row is that of its columns", async () => {
  expect(await rowsOfQuery(runner, `${T}T | project n = estimate_data_size(*)`)).toEqual([["10"], ["10"]]);
  expect(await rowsOfQuery(runner, `${T}T | summarize sum(estimate_data_size(b))`)).toEqual([["4"]]);
});

test("a table says what its columns are called", async () => {
  expect(await rowsOfQuery(runner, `${T}print column_names_of(T)`)).toEqual([['["a","b"]']]);
  expect(complaintAbout("print column_names_of(1)")?.code).toBe("WRONG_ARGUMENTS");
});

test("a pattern of names finds views of the query; where union is fuzzy, it need not find any", async () => {
  const views =
    "let V1 = view () { print x = 1 }; let V2 = view () { print x = 2 }; let F = () { print x = 3 }; ";
  expect(await rowsOfQuery(runner, `${views}union V* | summarize sum(x)`)).toEqual([["3"]]);
  expect(await rowsOfQuery(runner, `${views}union isfuzzy=true V*, W* | count`)).toEqual([["2"]]);
  expect(complaintAbout(`${views}union V*, W*`)?.code).toBe("UNKNOWN_TABLE");
});
