import type { Ingest } from "../../ingest/index.ts";
import type { Config } from "../config/config.ts";
import { Quarantine } from "../domains/quarantine/quarantine.ts";
import { ReplayClaims } from "../domains/quarantine/replay/replay-claims.ts";
import type { Logger } from "../log.ts";
import type { Stores } from "../storage/open.ts";
import type { Metrics } from "./metrics.ts";

interface ServerQuarantineOptions {
  readonly config: Pick<Config, "quarantineMaxRecords" | "quarantineMaxBytes">;
  readonly stores: Pick<Stores, "postgres" | "clickhouse">;
  readonly ingest: Pick<Ingest, "wal">;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Where records go that could not be mapped, and who replays which of them. */
export interface ServerQuarantine {
  readonly sink: Quarantine;
  readonly claims: ReplayClaims;
  /** What one organisation may have in it. */
  readonly bounds: { readonly maxRecords: number; readonly maxBytes: number };
}

/** Opens the quarantine and begins to settle what an earlier process left of its replays. */
export function openServerQuarantine(options: ServerQuarantineOptions): ServerQuarantine {
  const { config, stores, ingest, log } = options;
  const { quarantine: metrics } = options.metrics;
  const { postgres: sql, clickhouse } = stores;
  const now = Date.now;
  const bounds = { maxRecords: config.quarantineMaxRecords, maxBytes: config.quarantineMaxBytes };
  const claims = new ReplayClaims({ sql, clickhouse, wal: ingest.wal, metrics, log });
  claims.start();
  return { sink: new Quarantine({ sql, bounds, metrics, now }), claims, bounds };
}
