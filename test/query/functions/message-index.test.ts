import { afterAll, beforeAll, expect, test } from "bun:test";
import { compileKql, emit, guardPlan, INTERACTIVE_BUDGET } from "../../../query/index.ts";
import { queryCaller } from "../../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";

const ROWS = 40_000;
/** What one answer of the index makes the store read: two blocks, which the index describes together. */
const ROWS_PER_ENTRY = 4_096;

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
  const message =
    "if(number = 30000, 'Quagga42 crossing: from 203.0.113.77', lower(hex(cityHash64(number))))";
  await stores.clickhouse.command({
    query: `INSERT INTO logs (organization_id, ts, id, message)
      SELECT 1, toDateTime64('2025-01-01', 9, 'UTC') + number, number, ${message} FROM numbers(${ROWS})`,
  });
});
afterAll(() => stores.close());

const CONDITIONS = [
  "message contains 'QUAGGA42'",
  "message contains_cs 'Quagga42'",
  "message has 'quagga42'",
  "message has_cs 'Quagga42'",
  "message hasprefix 'quagga42'",
  "message startswith 'quagga42 cross'",
  "message startswith_cs 'Quagga42'",
  "message endswith '203.0.113.77'",
  "message =~ 'quagga42 CROSSING: from 203.0.113.77'",
  "message in~ ('quagga42 CROSSING: from 203.0.113.77', 'nothing like it')",
  "message has_any ('quagga42', 'no-such-term', 'another-one')",
  "message has_all ('quagga42', 'crossing')",
  "has_ipv4(message, '203.0.113.77')",
  "has_any_ipv4(message, '198.51.100.1', '203.0.113.77')",
  "message matches regex 'Quagga42 c.*from'",
];

test.each(CONDITIONS)("%s reads a fraction of the messages and finds its own", async (condition) => {
  const compiled = compileKql(`logs | where ${condition} | project message`, { nowNs: 0n });
  if (!compiled.ok) throw new Error(compiled.diagnostics[0]?.message);
  const scope = {
    organizationId: 1,
    timeRange: { from: null, to: null },
    maxRows: 10,
    budget: INTERACTIVE_BUDGET,
  };
  const statement = emit(guardPlan(compiled.query.relation, scope));
  const { rows, rowsRead } = await queryRunner(stores).run("test", statement, queryCaller());
  expect(rows).toEqual([["Quagga42 crossing: from 203.0.113.77"]]);
  expect(rowsRead).toBeLessThanOrEqual(2 * ROWS_PER_ENTRY);
});
