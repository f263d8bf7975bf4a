import type { ClickHouseClient } from "@clickhouse/client";
import type { Sql } from "postgres";
import type { Ingest } from "../../../ingest/index.ts";
import type { Logger } from "../../log.ts";
import { STOP_MS } from "./limits.ts";
import type { QuarantineBounds } from "./quarantine.ts";
import type { QuarantineMetrics } from "./quarantine-metrics.ts";
import { drainDecoders } from "./replay/drain-decoders.ts";
import { ReplayClaims } from "./replay/replay-claims.ts";
import { replayDecoders, type SourceDecoders } from "./replay/replay-decoders.ts";
import { Replayer } from "./replay/replayer.ts";
import { removeOldQuarantine } from "./retention.ts";
import { quarantineRoutes } from "./routes.ts";

interface QuarantineDependencies {
  readonly sql: Sql;
  readonly clickhouse: ClickHouseClient;
  readonly ingest: Ingest;
  readonly sources: SourceDecoders;
  readonly quarantineBounds: QuarantineBounds;
  readonly cursorKey: Uint8Array;
  readonly metrics: { readonly quarantine: QuarantineMetrics };
  readonly log: Logger;
}

/** What could not be mapped: looking at it, replaying it, and settling what an earlier process left of its replays. */
export function quarantineDomain(deps: QuarantineDependencies) {
  const { sql, clickhouse, ingest, sources, quarantineBounds: bounds, cursorKey, log } = deps;
  const { quarantine: metrics } = deps.metrics;
  const claims = new ReplayClaims({ sql, clickhouse, wal: ingest.wal, metrics, log });
  const decoders = replayDecoders(sources, drainDecoders());
  const replayer = new Replayer({ sql, ingest, claims, decoders, metrics, log });
  return {
    routes: quarantineRoutes({ sql, replayer, bounds, metrics, cursorKey }),
    housekeeping: [removeOldQuarantine],
    start: () => claims.start(),
    stop: () => claims.stop(STOP_MS),
  };
}
