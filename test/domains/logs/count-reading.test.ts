import { afterAll, beforeAll, expect, test } from "bun:test";
import { ALL_TIME, emit, guardPlan, parseSearch } from "../../../query/index.ts";
import { TOTAL_BUDGET, TOTAL_MAX_ENTRIES } from "../../../src/domains/logs/limits.ts";
import { countPlan } from "../../../src/domains/logs/search-plans.ts";
import { queryCaller } from "../../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../../query/query-store.ts";

const ROWS = 60_000;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
  await stores.clickhouse.command({
    query: `INSERT INTO logs (organization_id, ts, id, message)
      SELECT 1, toDateTime64('2025-01-01', 9, 'UTC') + number, number, 'Common word' FROM numbers(${ROWS})`,
  });
});
afterAll(() => stores.close());

test("the count of a search ends soon behind the most that it counts", async () => {
  const search = parseSearch("common");
  if (!search.ok) throw search.error;
  const filter = { search: search.condition, service: null, level: null };
  const scope = { organizationId: 1, timeRange: ALL_TIME, maxRows: 1, budget: TOTAL_BUDGET };
  const plan = countPlan(filter, TOTAL_MAX_ENTRIES + 1);
  const compiled = emit(guardPlan(plan, scope));
  // Every thread has a piece of its own in hand.
  const statement = { ...compiled, settings: { ...compiled.settings, max_threads: "1" } };
  const { rows, rowsRead } = await queryRunner(stores).run("test", statement, queryCaller());
  expect(rows).toEqual([[String(TOTAL_MAX_ENTRIES + 1)]]);
  expect(rowsRead).toBeLessThan(ROWS / 2);
});
