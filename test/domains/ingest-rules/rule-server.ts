import { ingestRuleRoutes } from "../../../src/domains/ingest-rules/routes.ts";
import { RuleCounter } from "../../../src/domains/ingest-rules/rule-counts.ts";
import { RuleDirectory } from "../../../src/domains/ingest-rules/rule-directory.ts";
import { createLogger } from "../../../src/log.ts";
import { createMetrics } from "../../../src/server/metrics.ts";
import { type TestApp, testApp } from "../../harness/http-app.ts";
import { testLedger } from "../../harness/ledger.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import type { TestStores } from "../../harness/stores.ts";

const BUDGET = {
  maxExecutionMs: 15_000,
  maxReadBytes: 2 ** 33,
  maxMemoryBytes: 2 ** 30,
  maxResultBytes: 2 ** 27,
};

/** What an instance knows of rules and counts. */
export interface RuleInstance extends TestApp {
  readonly rules: RuleDirectory;
  readonly counter: RuleCounter;
}

/** The routes of rules over a suite's stores, as a server has them. */
export function openRuleInstance(stores: TestStores, now: () => number = Date.now): RuleInstance {
  const { postgres: sql } = stores;
  const log = createLogger("silent");
  const metrics = createMetrics().ingestRules;
  const counter = new RuleCounter({ sql, metrics, now, log });
  const rules = new RuleDirectory({ sql, counter, metrics, now, log });
  const routes = ingestRuleRoutes({ sql, rules, ranges: logRanges(stores), budget: BUDGET, now });
  return { ...testApp(routes, { ledger: testLedger(sql, now) }), rules, counter };
}

export async function makeOrganization({ postgres: sql }: TestStores): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('rules', now()) RETURNING id`;
  return row?.id ?? 0;
}
