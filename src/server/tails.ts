import type { Ingest } from "../../ingest/index.ts";
import { Admission } from "../concurrency/admission.ts";
import {
  GAP_QUERIES_MAX_RUNNING,
  GAP_QUERIES_MAX_RUNNING_OF_ONE,
  GAP_QUERIES_MAX_WAITING,
  GAP_QUERIES_MAX_WAITING_OF_ONE,
} from "../domains/logs/tail/limits.ts";
import type { TailHub } from "../domains/logs/tail/tail-hub.ts";
import { TailService, type TailServiceOptions } from "../domains/logs/tail/tail-service.ts";
import { TailSessions } from "../domains/logs/tail/tail-sessions.ts";
import type { Authenticator } from "../http/authenticator.ts";
import type { Logger } from "../log.ts";
import type { Stores } from "../storage/open.ts";
import { QueryRunner } from "../storage/query-runner.ts";
import type { Metrics } from "./metrics.ts";

interface ServerTailsOptions {
  readonly stores: Pick<Stores, "postgres" | "clickhouseEndpoint" | "redis">;
  readonly ingest: Ingest;
  readonly hub: TailHub;
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Live tails and who may open them. */
interface ServerTails {
  readonly sessions: TailSessions;
  readonly tails: TailService;
}

/** The live tails of this server over its stores; `overrides` are for tests. */
export function openServerTails(
  { stores, ingest, hub, authenticator, metrics, log }: ServerTailsOptions,
  overrides: Partial<TailServiceOptions> = {},
): ServerTails {
  const monotonicMs = () => performance.now();
  const sessions = new TailSessions({ sql: stores.postgres, authenticator, log, now: Date.now });
  const tails = new TailService({
    sessions,
    hub,
    ingest,
    // Not the one of searches: after a restart all readers come back at once, and reading back what each missed would
    // take every place that a search waits for, as would those that ask the store again and again.
    runner: new QueryRunner({
      endpoint: stores.clickhouseEndpoint,
      admission: new Admission({
        what: "reading back",
        dependency: "clickhouse",
        maxRunning: GAP_QUERIES_MAX_RUNNING,
        maxWaiting: GAP_QUERIES_MAX_WAITING,
        maxRunningOfOne: GAP_QUERIES_MAX_RUNNING_OF_ONE,
        maxWaitingOfOne: GAP_QUERIES_MAX_WAITING_OF_ONE,
      }),
      metrics,
      monotonicMs,
    }),
    redis: stores.redis,
    metrics,
    log,
    now: Date.now,
    monotonicMs,
    ...overrides,
  });
  return { sessions, tails };
}
