import { join } from "node:path";
import { type CommittedBatches, type Ingest, type LogStore, openIngest } from "../ingest/index.ts";
import { findArchivedEntries } from "./archive/archived-entries.ts";
import type { ArchiveFiles } from "./archive/files/archive-files.ts";
import { openArchiveFiles } from "./archive/log-archive.ts";
import { AnchorWriter } from "./audit/anchors/anchor-writer.ts";
import { type Config, ConfigError, loadConfig, publicUrlOf } from "./config/config.ts";
import { SourceActivity } from "./domains/ingest-sources/source-activity.ts";
import { TailHub } from "./domains/logs/tail/tail-hub.ts";
import { diskCheck } from "./health/disk-check.ts";
import { LogWrites } from "./health/log-writes.ts";
import { StoredRequests } from "./http/ledger/stored-requests.ts";
import { type Listener, listen, requireListenable } from "./http/server.ts";
import { Authenticator } from "./identity/authenticator.ts";
import { BelievedClock } from "./jobs/clock/believed-clock.ts";
import { openBootClock } from "./jobs/clock/boot-clock.ts";
import { createLogger, type Logger } from "./log.ts";
import { createIngestObserver } from "./receive/ingest-observer.ts";
import { createApp } from "./server/app.ts";
import { openServerArchive } from "./server/archive.ts";
import { Housekeeping } from "./server/housekeeping.ts";
import { openServerListeners } from "./server/listeners.ts";
import { openServerMail } from "./server/mail.ts";
import { createMetrics, type Metrics } from "./server/metrics.ts";
import { watchProcessFaults } from "./server/process-faults.ts";
import { openServerQuarantine } from "./server/quarantine.ts";
import { serverReadiness } from "./server/readiness.ts";
import { ServerStop, type StoppableServer } from "./server/server-stop.ts";
import { openServerTails } from "./server/tails.ts";
import { createClickHouseLogStore } from "./storage/clickhouse-log-store.ts";
import { findFreePort } from "./storage/embedded/free-port.ts";
import { tableDirectorySync } from "./storage/embedded/table-directory.ts";
import { openSecretBox } from "./storage/load-secret-key.ts";
import { openStores, type Stores } from "./storage/open.ts";
import { loadSigningKey } from "./storage/server-identity.ts";

/** How long messages of listeners that were read may take to be stored at the end. */
const STOP_MESSAGES_MS = 2_000;
/** How long requests that are being answered may take at the end, and after them the flush of the log. */
const STOP_REQUESTS_MS = 2_000;
const STOP_FLUSH_MS = 2_500;
/** How long a mail that is being sent may take at the end; cut off, it is sent again by the next start. */
const STOP_MAIL_MS = 1_000;
/** How long settling interrupted replays may take at the end; the next start goes on with it. */
const STOP_QUARANTINE_MS = 1_000;
interface Server extends StoppableServer {
  readonly url: string;
}

async function startServer(config: Config, metrics: Metrics, log: Logger): Promise<Server> {
  // Before anything is opened or changed for a server that could not be reached.
  if (config.port !== 0) await requireListenable({ hostname: config.host, port: config.port });
  const stores = await openStores(config, log);
  try {
    const hub = new TailHub({ log, metrics: metrics.tail });
    const writes = new LogWrites(Date.now);
    const archiveFiles = await openArchiveFiles(config, stores.clickhouse);
    const store = openLogStore(config, stores, archiveFiles);
    const ingest = await openServerIngest({ config, store, stores, metrics, log, writes, committed: hub });
    const box = await openSecretBox(stores.postgres, config.secretKey, config.dataDirectory);
    const authenticator = new Authenticator({ sql: stores.postgres, now: Date.now, log });
    const { sessions: tailSessions, tails } = openServerTails({
      stores,
      ingest,
      hub,
      authenticator,
      metrics,
      log,
    });
    const clock = new BelievedClock({
      sql: stores.postgres,
      now: Date.now,
      bootTime: openBootClock(),
      confirmedMs: config.archiveClockConfirmedMs,
    });
    const archive = openServerArchive({ config, files: archiveFiles, stores, clock, metrics, log });
    const anchors = openAnchors(stores, metrics, log);
    const housekeeping = new Housekeeping({ sql: stores.postgres, now: () => clock.read(), log });
    housekeeping.start();
    const storedRequests = openStoredRequests(config, stores, ingest, log);
    const port = config.port === 0 ? await findFreePort() : config.port;
    const publicUrl = publicUrlOf(config, port);
    const mail = openServerMail({ config, publicUrl, sql: stores.postgres, box, metrics, log });
    const quarantine = openServerQuarantine({ config, stores, ingest, metrics, log });
    const sourceActivity = new SourceActivity({ sql: stores.postgres, now: Date.now, log });
    let isDraining = false;
    const app = createApp({
      config,
      publicUrl,
      stores,
      box,
      mail,
      links: mail.links,
      quarantine,
      sourceActivity,
      ingest,
      storedRequests,
      tailSessions,
      tails,
      authenticator,
      readiness: serverReadiness({
        stores,
        ingest,
        writes,
        disk: diskCheck({ directory: config.dataDirectory, log }),
        mail: mail.sender,
        archive: archive.check,
        now: Date.now,
      }),
      isDraining: () => isDraining,
      metrics,
      log,
      archiveFiles,
      cursorKey: await loadSigningKey(stores.postgres, "search-cursor"),
      onAudited: anchors.wake,
    });
    const messages = await openServerListeners({
      config,
      sql: stores.postgres,
      ingest,
      quarantine: quarantine.sink,
      authenticator,
      metrics,
      log,
    });
    const listener = listen(app, { hostname: config.host, port });
    return {
      url: publicUrl,
      drain: () => {
        isDraining = true;
      },
      stop: async () => {
        await tails.close();
        await Promise.all([stopListening(listener), ...messages.map((open) => open.close(STOP_MESSAGES_MS))]);
        // At the same time, for together they could take longer than the stop may.
        await Promise.all([
          ingest.close(STOP_FLUSH_MS),
          mail.stop(STOP_MAIL_MS),
          anchors.stop(),
          archive.stop(),
          quarantine.claims.stop(STOP_QUARANTINE_MS),
          housekeeping.stop(),
          storedRequests.stop(),
        ]);
        await Promise.all([authenticator.settled(), sourceActivity.settled()]);
        await stores.close();
      },
    };
  } catch (error) {
    await stores.close();
    throw error;
  }
}

function openAnchors(stores: Stores, metrics: Metrics, log: Logger): AnchorWriter {
  const { postgres: sql, clickhouse } = stores;
  const anchors = new AnchorWriter({ sql, clickhouse, metrics: metrics.audit, now: Date.now, log });
  metrics.onCollect(() => metrics.audit.lagSec.set(anchors.lagSec));
  anchors.start();
  return anchors;
}

function openStoredRequests(config: Config, stores: Stores, ingest: Ingest, log: Logger): StoredRequests {
  const storedRequests = new StoredRequests({
    sql: stores.postgres,
    wal: ingest.wal,
    events: ingest.events,
    holdMs: config.idempotencyHoldSeconds * 1000,
    log,
  });
  storedRequests.start();
  return storedRequests;
}

/** Where acknowledged entries go: to the store, and from there to the archive. */
function openLogStore(config: Config, stores: Stores, files: ArchiveFiles | null): LogStore {
  const { clickhouse, clickhouseEndpoint: endpoint, postgres: sql } = stores;
  const isEmbedded = config.clickhouseUrl === null;
  return createClickHouseLogStore(endpoint, {
    ...(files !== null && {
      findArchived: (span, signal) => findArchivedEntries({ sql, endpoint, files }, span, signal),
    }),
    ...(isEmbedded && { settle: tableDirectorySync(clickhouse, "logs", config.dataDirectory) }),
  });
}

interface ServerIngestOptions {
  readonly config: Config;
  readonly store: LogStore;
  readonly stores: Stores;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly writes: LogWrites;
  readonly committed: CommittedBatches;
}

async function openServerIngest(options: ServerIngestOptions): Promise<Ingest> {
  const { config, store, stores, metrics, log, writes, committed } = options;
  const ingest = await openIngest({
    directory: join(config.dataDirectory, "wal"),
    store,
    observer: writes.watch(createIngestObserver(metrics, log)),
    instance: () => stores.instance.number(),
    walMaxBytes: config.walMaxBytes,
    maxInFlightBytes: config.ingestMaxInFlightBytes,
    dedupeWindowMs: config.dedupeWindowSeconds * 1000,
    dedupeMaxKeys: config.dedupeMaxEvents,
    now: Date.now,
    committed,
    onFatal: (error) => {
      log.fatal({ err: error }, "the write-ahead log has failed; the next start recovers what it holds");
      process.exit(1);
    },
  });
  const { recovery } = ingest.wal;
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
  metrics.onCollect(() => {
    metrics.wal.bytes.set(ingest.wal.bytes);
    metrics.dedupe.keys.set(ingest.events.size);
    metrics.dedupe.reachSec.set(ingest.events.reachMs / 1000);
    const oldest = ingest.wal.oldestUnflushedMs;
    metrics.wal.oldestAgeSec.set(oldest === undefined ? 0 : (Date.now() - oldest) / 1000);
  });
  return ingest;
}

/** Lets the requests that are being answered end, and cuts those that take too long. */
async function stopListening(listener: Listener): Promise<void> {
  const timer = setTimeout(() => void listener.abort(), STOP_REQUESTS_MS);
  await listener.stop();
  clearTimeout(timer);
}

function printWelcome(url: string): void {
  const lines = [
    `obs listens on ${url}`,
    "",
    "Get a token:      bun run obs login --register",
    "Ship a log file:  bun run obs ship FILE",
    "Find a line:      bun run obs search WORD",
    `The API:          ${url}/docs`,
    "",
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLogger(config.logLevel);
  const metrics = createMetrics();
  let stop: ServerStop | undefined;
  watchProcessFaults({
    log,
    faults: metrics.uncaughtFaults,
    // In the middle of the start there is nothing yet that would have to be stopped in order.
    stop: () => (stop === undefined ? process.exit(1) : stop.afterFault()),
  });
  const server = await startServer(config, metrics, log);
  const drainMs = config.drainSeconds * 1000;
  stop = new ServerStop({ server, drainMs, log, exit: (code) => process.exit(code) });
  stop.onSignals();
  printWelcome(server.url);
}

try {
  await main();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`obs: ${error instanceof ConfigError ? message : `cannot start: ${message}`}\n`);
  process.exit(1);
}
