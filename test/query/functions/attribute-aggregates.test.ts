import { afterAll, beforeAll, expect, test } from "bun:test";
import { idAt, insertRows } from "../../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { rowOfQuery, rowsOfQuery } from "./answers.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
  const row = (
    offset: number,
    attrs: readonly (readonly [string, string])[],
    jsonKeys: readonly string[],
  ) => ({
    organizationId: 1,
    ts: BigInt(offset),
    id: idAt(Date.UTC(2026, 0, 1), offset),
    message: `entry ${offset}`,
    attrs,
    jsonKeys,
  });
  await insertRows(stores.clickhouse, [
    row(
      1,
      [
        ["user", "ann"],
        ["bytes", "9"],
        ["tags", `["a","b"]`],
      ],
      ["bytes", "tags"],
    ),
    row(
      2,
      [
        ["user", "bob"],
        ["bytes", "10"],
        ["request", `{"paths":[{"name":"x"}]}`],
      ],
      ["bytes", "request"],
    ),
    row(3, [["user", "ann"]], []),
  ]);
});
afterAll(() => stores.close());

test("attributes are aggregated as the numbers and texts that they are", async () => {
  const row = await rowOfQuery(
    queryRunner(stores),
    `logs | sort by ts asc | summarize sum(attrs.bytes), avg(attrs.bytes), max(attrs.bytes), percentile(attrs.bytes, 100),
      dcount(attrs.user), make_set(attrs.user), make_list(attrs.tags), make_set(attrs.request.paths[0].name),
      countif(attrs.bytes > 9), make_bag(pack(tostring(attrs.user), attrs.bytes))`,
  );
  expect(row.map(String)).toEqual([
    "19",
    "9.5",
    "10",
    "10",
    "2",
    `["ann","bob"]`,
    `["a","b",null,null]`,
    `["x"]`,
    "1",
    `{"ann":9,"bob":10}`,
  ]);
});

test("arg_max() of an entry answers its attributes", async () => {
  const rows = await rowsOfQuery(
    queryRunner(stores),
    "logs | summarize arg_max(ts, attrs.bytes, message) by user = tostring(attrs.user) | project-away ts | sort by user asc",
  );
  expect(rows).toEqual([
    ["ann", "", "entry 3"],
    ["bob", "10", "entry 2"],
  ]);
});
