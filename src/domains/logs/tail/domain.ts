import type { Ingest } from "../../../../ingest/index.ts";
import { hasFilesSince } from "../../../archive/reading/store.ts";
import { Admission } from "../../../concurrency/admission.ts";
import type { Authenticator } from "../../../http/authenticator.ts";
import type { Logger } from "../../../log.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import type { Stores } from "../../../storage/open.ts";
import { inOrganization } from "../../../storage/organization-transaction.ts";
import type { QueryMetrics } from "../../../storage/query-metrics.ts";
import { QueryRunner } from "../../../storage/query-runner.ts";
import {
  GAP_QUERIES_MAX_RUNNING,
  GAP_QUERIES_MAX_RUNNING_OF_ONE,
  GAP_QUERIES_MAX_WAITING,
  GAP_QUERIES_MAX_WAITING_OF_ONE,
  GAP_QUERIES_STORE_SHARE,
} from "./limits.ts";
import { tailRoutes } from "./routes.ts";
import type { TailHub } from "./tail-hub.ts";
import type { TailMetrics } from "./tail-metrics.ts";
import { TailService, type TailServiceOptions } from "./tail-service.ts";
import { TailSessions } from "./tail-sessions.ts";

interface TailDependencies {
  readonly stores: Pick<Stores, "postgres" | "clickhouseEndpoint" | "redis">;
  readonly ingest: Ingest;
  readonly hub: TailHub;
  readonly authenticator: Authenticator;
  readonly metrics: { readonly tail: TailMetrics; readonly query: QueryMetrics };
  readonly log: Logger;
}

/** The live tails of this server, and who may open them; `overrides` are for tests. */
export function tailDomain(
  { stores, ingest, hub, authenticator, metrics, log }: TailDependencies,
  overrides: Partial<TailServiceOptions> = {},
) {
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
      part: { memory: GAP_QUERIES_STORE_SHARE, places: GAP_QUERIES_MAX_RUNNING },
      metrics,
      monotonicMs,
    }),
    redis: stores.redis,
    hasFilesSince: (organizationId, day) =>
      askPostgres(() =>
        inOrganization(stores.postgres, organizationId, (tx) => hasFilesSince(tx, organizationId, day)),
      ),
    metrics,
    log,
    now: Date.now,
    monotonicMs,
    ...overrides,
  });
  return { tails, routes: tailRoutes(sessions, tails), endStreams: () => tails.close() };
}
