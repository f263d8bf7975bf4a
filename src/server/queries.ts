import type { QueryBudget } from "../../query/index.ts";
import { Admission } from "../concurrency/admission.ts";
import type { Config } from "../config/config.ts";
import {
  QUERIES_MAX_RUNNING,
  QUERIES_MAX_RUNNING_OF_ONE,
  QUERIES_MAX_RUNNING_OF_PERSON,
  QUERIES_MAX_WAITING,
  QUERIES_MAX_WAITING_OF_ONE,
  QUERIES_STORE_SHARE,
} from "../domains/logs/limits.ts";
import { ExternalFiles } from "../kql/kept/external-files.ts";
import type { KeptRows } from "../kql/kept/kept-rows.ts";
import {
  EXTERNALS_MAX_RUNNING,
  EXTERNALS_MAX_RUNNING_OF_ONE,
  EXTERNALS_MAX_WAITING,
  EXTERNALS_MAX_WAITING_OF_ONE,
} from "../kql/kept/limits.ts";
import { createGuardedFetch } from "../outbound/guarded-fetch.ts";
import type { OutboundPolicy } from "../outbound/outbound-policy.ts";
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
    part: { memory: QUERIES_STORE_SHARE, places: QUERIES_MAX_RUNNING },
    metrics,
    monotonicMs: () => performance.now(),
  });
}

interface ExternalFilesParts {
  readonly config: Config;
  readonly policy: OutboundPolicy;
  readonly keptRows: KeptRows;
  readonly now: () => number;
}

/** What reads files of other servers for queries, of which few at a time. */
export function openExternalFiles({ config, policy, keptRows, now }: ExternalFilesParts): ExternalFiles {
  return new ExternalFiles({
    hosts: config.externaldataHosts ?? [],
    fetch: createGuardedFetch(policy),
    rows: keptRows,
    admission: new Admission({
      what: "a file of another server",
      dependency: "externaldata",
      maxRunning: EXTERNALS_MAX_RUNNING,
      maxWaiting: EXTERNALS_MAX_WAITING,
      maxRunningOfOne: EXTERNALS_MAX_RUNNING_OF_ONE,
      maxWaitingOfOne: EXTERNALS_MAX_WAITING_OF_ONE,
    }),
    now,
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
