import { emit, guardPlan, INTERACTIVE_BUDGET, type Relation, type TimeRange } from "../../query/index.ts";
import { Admission } from "../../src/concurrency/admission.ts";
import { createMetrics } from "../../src/server/metrics.ts";
import { QueryRunner } from "../../src/storage/query-runner.ts";
import { queryCaller } from "../harness/query-caller.ts";
import type { TestStores } from "../harness/stores.ts";

/** A runner of compiled statements in a suite's database. */
export function queryRunner({ clickhouseEndpoint }: Pick<TestStores, "clickhouseEndpoint">): QueryRunner {
  return new QueryRunner({
    endpoint: clickhouseEndpoint,
    admission: new Admission({ what: "a query", dependency: "clickhouse", maxRunning: 8, maxWaiting: 8 }),
    part: { memory: 1, places: 8 },
    metrics: createMetrics(),
    monotonicMs: () => performance.now(),
  });
}

/** The rows of a plan, guarded for the organization. */
export async function rowsOf(
  runner: QueryRunner,
  plan: Relation,
  organizationId: number,
  timeRange: TimeRange = { from: null, to: null },
): Promise<readonly (readonly unknown[])[]> {
  const guarded = guardPlan(plan, { organizationId, timeRange, maxRows: 10_000, budget: INTERACTIVE_BUDGET });
  return (await runner.run("test", emit(guarded), queryCaller())).rows;
}
