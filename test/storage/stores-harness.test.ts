import { afterAll, beforeAll, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../harness/stores.ts";

let first: TestStores;
let second: TestStores;

beforeAll(async () => {
  [first, second] = await Promise.all([openTestStores(), openTestStores()]);
});

afterAll(async () => {
  await Promise.all([first.close(), second.close()]);
});

test("two suites share the engines and see none of each other's rows", async () => {
  await first.postgres`CREATE TABLE probe AS SELECT 1 AS value`;
  await first.clickhouse.command({ query: "CREATE TABLE probe ENGINE = Memory AS SELECT 1 AS value" });
  const [row] = await second.postgres`SELECT to_regclass('probe') AS name`;
  expect(row?.name).toBeNull();
  const result = await second.clickhouse.query({ query: "EXISTS TABLE probe", format: "JSONEachRow" });
  expect(await result.json()).toEqual([{ result: 0 }]);
});

test("a suite's stores have the repository's schema", async () => {
  const [row] = await first.postgres`SELECT count(*)::int AS count FROM organizations`;
  expect(row?.count).toBe(0);
  const result = await first.clickhouse.query({
    query: "SELECT count() AS count FROM logs",
    format: "JSONEachRow",
  });
  expect(await result.json()).toEqual([{ count: "0" }]);
});
