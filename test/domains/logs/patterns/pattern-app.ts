import type { ArchiveFiles } from "../../../../src/archive/files/archive-files.ts";
import { Admission } from "../../../../src/concurrency/admission.ts";
import { logPatternRoutes } from "../../../../src/domains/logs/patterns/routes.ts";
import type { PatternsAnswer } from "../../../../src/domains/logs/patterns/types.ts";
import { createMetrics } from "../../../../src/server/metrics.ts";
import { QueryRunner } from "../../../../src/storage/query-runner.ts";
import { testApp } from "../../../harness/http-app.ts";
import { logRanges } from "../../../harness/log-ranges.ts";
import { KEEPS_NOTHING } from "../../../harness/nothing-kept.ts";
import type { TestStores } from "../../../harness/stores.ts";
import { byOrganization } from "../viewer-of-organization.ts";

export interface PatternApp {
  /** Asks as a viewer of the organization. */
  readonly ask: (organizationId: number, parameters?: Record<string, string>) => Promise<Response>;
  /** The answer of a request that succeeds. */
  readonly patterns: (organizationId: number, parameters?: Record<string, string>) => Promise<PatternsAnswer>;
}

export function patternApp(
  stores: Pick<TestStores, "clickhouseEndpoint" | "postgres">,
  nowMs: () => number,
  queryMaxMemoryBytes = 2 ** 30,
  files: ArchiveFiles | null = null,
): PatternApp {
  const runner = new QueryRunner({
    endpoint: stores.clickhouseEndpoint,
    admission: new Admission({ what: "a query", dependency: "clickhouse", maxRunning: 4, maxWaiting: 64 }),
    part: { memory: 1, places: 4 },
    metrics: createMetrics(),
    monotonicMs: () => performance.now(),
  });
  const budget = {
    maxExecutionMs: 30_000,
    maxReadBytes: 2 ** 33,
    maxMemoryBytes: queryMaxMemoryBytes,
    maxResultBytes: 2 ** 27,
  };
  const routes = logPatternRoutes({
    ranges: logRanges(stores, { runner, files }),
    budget,
    now: nowMs,
    ...KEEPS_NOTHING,
  });
  const { send } = testApp(routes, { authenticator: byOrganization });
  const ask: PatternApp["ask"] = (organizationId, parameters = {}) =>
    send("GET", `/api/v1/logs/patterns?${new URLSearchParams(parameters)}`, {
      headers: { "x-organization": String(organizationId) },
    });
  return {
    ask,
    patterns: async (organizationId, parameters) => {
      const response = await ask(organizationId, parameters);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
      const answer: PatternsAnswer = JSON.parse(text);
      return answer;
    },
  };
}
