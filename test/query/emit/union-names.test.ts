import { afterAll, beforeAll, expect, test } from "bun:test";
import { compileKql, EVERY_TABLE } from "../../../query/index.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner, rowsOf } from "../query-store.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

test("what one table of a search calls its columns means nothing in the next one", async () => {
  const compiled = compileKql('search in (logs, checks) "word"', { nowNs: 0n, tables: EVERY_TABLE });
  if (!compiled.ok) throw new Error(compiled.diagnostics[0]?.message);
  expect(await rowsOf(queryRunner(stores), compiled.query.relation, 7)).toEqual([]);
});
