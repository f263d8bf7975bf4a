import { join } from "node:path";
import {
  type CommittedBatches,
  type Ingest,
  type IngestOptions,
  type LogStore,
  openIngest,
} from "../../ingest/index.ts";
import { findArchivedEntries } from "../archive/archived-entries.ts";
import type { ArchiveFiles } from "../archive/files/archive-files.ts";
import type { Config } from "../config/config.ts";
import { diskCheck } from "../health/disk-check.ts";
import { LogWrites } from "../health/log-writes.ts";
import type { DependencyCheck } from "../health/readiness.ts";
import { StoredRequests } from "../http/ledger/stored-requests.ts";
import type { Logger } from "../log.ts";
import { createIngestObserver } from "../receive/ingest-observer.ts";
import { createClickHouseLogStore } from "../storage/clickhouse-log-store.ts";
import { tableDirectorySync } from "../storage/embedded/table-directory.ts";
import type { Stores } from "../storage/open.ts";
import type { Metrics } from "./metrics.ts";

/** How long the flush of the log may take when the server stops; the next start stores what is left. */
const STOP_MS = 2_500;
/** How long an acknowledged entry may wait for the store before the server calls itself behind. */
const MAX_FLUSH_LAG_MS = 30_000;

interface ServerIngestOptions {
  readonly config: Config;
  readonly stores: Stores;
  /** Where archived entries lie, if anywhere. */
  readonly files: ArchiveFiles | null;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly committed: CommittedBatches;
  readonly rulesOf: IngestOptions["rulesOf"];
  readonly stored: (lastId: bigint) => void;
  /** Told when rows without indexes came into the store. */
  readonly onUnindexed: () => void;
}

/** The write-ahead log of this server and the way from there to the store. */
interface ServerIngest {
  readonly ingest: Ingest;
  /** Knows which requests with a key have brought entries. */
  readonly storedRequests: StoredRequests;
  /** Of the log, and of the disk it is on. */
  readonly checks: readonly DependencyCheck[];
  stop(): Promise<void>;
}

/** Opens the write-ahead log and begins to store what an earlier process left in it. */
export async function openServerIngest(options: ServerIngestOptions): Promise<ServerIngest> {
  const { config, stores, metrics, log } = options;
  const writes = new LogWrites(Date.now);
  let storedRequests: StoredRequests | undefined;
  const requestsOf = ({ wal, events }: Pick<Ingest, "wal" | "events">): StoredRequests => {
    const holdMs = config.idempotencyHoldSeconds * 1000;
    storedRequests ??= new StoredRequests({ sql: stores.postgres, wal, events, holdMs, log });
    return storedRequests;
  };
  const ingest = await openIngest({
    directory: join(config.dataDirectory, "wal"),
    store: logStore(options),
    observer: writes.watch(createIngestObserver(metrics, log)),
    instance: () => stores.instance.number(),
    walMaxBytes: config.walMaxBytes,
    maxInFlightBytes: config.ingestMaxInFlightBytes,
    dedupeWindowMs: config.dedupeWindowSeconds * 1000,
    dedupeMaxKeys: config.dedupeMaxEvents,
    now: Date.now,
    committed: options.committed,
    rulesOf: options.rulesOf,
    stored: options.stored,
    takenOver: (opened) => requestsOf(opened).takenOver(),
    onFatal: (error) => {
      log.fatal({ err: error }, "the write-ahead log has failed; the next start recovers what it holds");
      process.exit(1);
    },
  });
  reportRecovery(ingest, log);
  measure(ingest, metrics);
  return {
    ingest,
    storedRequests: requestsOf(ingest),
    checks: [
      { name: "write-ahead-log", check: async () => logState(ingest, writes) },
      diskCheck({ directory: config.dataDirectory, log }),
    ],
    stop: () => ingest.close(STOP_MS),
  };
}

/** Where acknowledged entries go: to the store, and from there to the archive. */
function logStore({ config, stores, files, onUnindexed }: ServerIngestOptions): LogStore {
  const { clickhouse, clickhouseEndpoint: endpoint, postgres: sql } = stores;
  const isEmbedded = config.clickhouseUrl === null;
  return createClickHouseLogStore(endpoint, {
    onUnindexed,
    ...(files !== null && {
      findArchived: (span, signal) => findArchivedEntries({ sql, endpoint, files }, span, signal),
    }),
    ...(isEmbedded && { settle: tableDirectorySync(clickhouse, "logs", config.dataDirectory) }),
  });
}

function reportRecovery({ wal: { recovery } }: Ingest, log: Logger): void {
  if (recovery.ledgerLost)
    log.warn(
      { recovery },
      "the ledger of the write-ahead log was missing or unreadable: the log store is asked which entries it has",
    );
  if (recovery.recordsDamaged + recovery.recordsRepaired + recovery.recordsTorn > 0)
    log.warn(
      { recovery },
      "the write-ahead log was not closed cleanly or is damaged; everything readable was kept",
    );
}

function measure({ wal, events }: Ingest, metrics: Metrics): void {
  metrics.onCollect(() => {
    metrics.wal.bytes.set(wal.bytes);
    metrics.dedupe.keys.set(events.size);
    metrics.dedupe.reachSec.set(events.reachMs / 1000);
    const oldest = wal.oldestUnflushedMs;
    metrics.wal.oldestAgeSec.set(oldest === undefined ? 0 : (Date.now() - oldest) / 1000);
  });
}

function logState({ wal }: Ingest, writes: LogWrites): Awaited<ReturnType<DependencyCheck["check"]>> {
  if (wal.bytes >= wal.maxBytes) return { state: "down", detail: "Full: new entries are refused." };
  if (writes.isFailing) return { state: "down", detail: "The newest entries could not be made durable." };
  const lagMs = wal.oldestUnflushedMs === undefined ? 0 : Date.now() - wal.oldestUnflushedMs;
  if (lagMs > MAX_FLUSH_LAG_MS) return { state: "degraded", detail: "Entries wait for the log store." };
  const { recordsDamaged } = wal.recovery;
  return recordsDamaged === 0
    ? { state: "up" }
    : {
        state: "degraded",
        detail: `${recordsDamaged} damaged regions were found at the start and set aside.`,
      };
}
