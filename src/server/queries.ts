import type { QueryBudget } from "../../query/index.ts";
import { Admission } from "../concurrency/admission.ts";
import type { Config } from "../config/config.ts";
import {
  QUERIES_MAX_RUNNING,
  QUERIES_MAX_RUNNING_OF_ONE,
  QUERIES_MAX_RUNNING_OF_PERSON,
  QUERIES_MAX_WAITING,
  QUERIES_MAX_WAITING_OF_ONE,
} from "../domains/logs/limits.ts";
import type { Stores } from "../storage/open.ts";
import { QueryRunner } from "../storage/query-runner.ts";
import type { Metrics } from "./metrics.ts";

/** Every domain that reads logs for a person who waits shares it, and so its bound on statements at a time. */
export function createQueryRunner(stores: Stores, metrics: Metrics): QueryRunner {
  return new QueryRunner({
    endpoint: stores.clickhouseEndpoint,
    admission: new Admission({
      what: "a query",
      dependency: "clickhouse",
      maxRunning: QUERIES_MAX_RUNNING,
      maxWaiting: QUERIES_MAX_WAITING,
      maxRunningOfOne: QUERIES_MAX_RUNNING_OF_ONE,
      maxWaitingOfOne: QUERIES_MAX_WAITING_OF_ONE,
      maxRunningOfPerson: QUERIES_MAX_RUNNING_OF_PERSON,
    }),
    metrics,
    monotonicMs: () => performance.now(),
  });
}

/** What one statement may cost. */
export function queryBudgetOf(config: Config): QueryBudget {
  return {
    maxExecutionMs: config.queryTimeoutMs,
    maxReadBytes: config.queryMaxReadBytes,
    maxMemoryBytes: config.queryMaxMemoryBytes,
    maxResultBytes: config.queryMaxResultBytes,
  };
}
