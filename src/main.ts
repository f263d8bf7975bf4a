import { join } from "node:path";
import { type CommittedBatches, type Ingest, openIngest } from "../ingest/index.ts";
import { createApp } from "./app.ts";
import { AnchorWriter } from "./audit/anchors/anchor-writer.ts";
import { BelievedClock } from "./clock/believed-clock.ts";
import { openBootClock } from "./clock/boot-clock.ts";
import { type Config, ConfigError, loadConfig, publicUrlOf } from "./config.ts";
import { SourceActivity } from "./domains/ingest-sources/source-activity.ts";
import { createIngestObserver } from "./domains/logs/ingest-observer.ts";
import { TailHub } from "./domains/logs/tail/tail-hub.ts";
import { type Listener, listen } from "./http/server.ts";
import { Authenticator } from "./identity/authenticator.ts";
import { Housekeeping } from "./jobs/housekeeping.ts";
import { createLogger, type Logger } from "./log.ts";
import { createMetrics, type Metrics } from "./ops/metrics.ts";
import { openSecretBox } from "./secrets/load-secret-key.ts";
import { openServerArchive } from "./server-archive.ts";
import { openServerMail } from "./server-mail.ts";
import { openServerQuarantine } from "./server-quarantine.ts";
import { serverReadiness } from "./server-readiness.ts";
import { openServerSyslog } from "./server-syslog.ts";
import { openServerTails } from "./server-tails.ts";
import { createClickHouseLogStore } from "./storage/clickhouse-log-store.ts";
import { findFreePort } from "./storage/embedded/free-port.ts";
import { openStores, type Stores } from "./storage/open.ts";
import { loadSigningKey } from "./storage/server-identity.ts";

/** How long messages of syslog that were read may take to be stored at the end. */
const STOP_SYSLOG_MS = 2_000;
/** How long requests that are being answered may take at the end, and after them the flush of the log. */
const STOP_REQUESTS_MS = 2_000;
const STOP_FLUSH_MS = 2_500;
/** How long a mail that is being sent may take at the end; cut off, it is sent again by the next start. */
const STOP_MAIL_MS = 1_000;
/** How long settling interrupted replays may take at the end; the next start goes on with it. */
const STOP_QUARANTINE_MS = 1_000;
/** When the stop has not come to its end by itself: nothing acknowledged is lost, the next start recovers it. */
const STOP_DEADLINE_MS = 9_500;

interface Server {
  readonly url: string;
  /** Drains and stops everything, in the order in which data flows. */
  stop(): Promise<void>;
}

async function startServer(config: Config, log: Logger): Promise<Server> {
  const metrics = createMetrics();
  const stores = await openStores(config, log);
  try {
    const hub = new TailHub({ log, metrics: metrics.tail });
    const ingest = await openServerIngest(config, stores, metrics, log, hub);
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
    const archive = await openServerArchive({ config, stores, clock, metrics, log });
    const anchors = openAnchors(stores, metrics, log);
    const housekeeping = new Housekeeping({ sql: stores.postgres, now: () => clock.read(), log });
    housekeeping.start();
    const port = config.port === 0 ? await findFreePort() : config.port;
    const publicUrl = publicUrlOf(config, port);
    const mail = openServerMail({ config, publicUrl, sql: stores.postgres, box, metrics, log });
    const quarantine = openServerQuarantine({ config, stores, ingest, metrics, log });
    const sourceActivity = new SourceActivity({ sql: stores.postgres, now: Date.now, log });
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
      tailSessions,
      tails,
      authenticator,
      readiness: serverReadiness(stores, ingest, mail.sender, archive.check, Date.now),
      metrics,
      log,
      archiveFiles: archive.files,
      cursorKey: await loadSigningKey(stores.postgres, "search-cursor"),
      onAudited: anchors.wake,
    });
    const syslog = await openServerSyslog({
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
      stop: async () => {
        await tails.close();
        await Promise.all([stopListening(listener), syslog?.close(STOP_SYSLOG_MS)]);
        // At the same time, for together they could take longer than the stop may.
        await Promise.all([
          ingest.close(STOP_FLUSH_MS),
          mail.stop(STOP_MAIL_MS),
          anchors.stop(),
          archive.stop(),
          quarantine.claims.stop(STOP_QUARANTINE_MS),
          housekeeping.stop(),
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

async function openServerIngest(
  config: Config,
  stores: Stores,
  metrics: Metrics,
  log: Logger,
  committed: CommittedBatches,
): Promise<Ingest> {
  const ingest = await openIngest({
    directory: join(config.dataDirectory, "wal"),
    store: createClickHouseLogStore(stores.clickhouseEndpoint),
    observer: createIngestObserver(metrics, log),
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
  if (recovery.recordsDamaged + recovery.recordsRepaired + recovery.recordsTorn > 0)
    log.warn(
      { recovery },
      "the write-ahead log was not closed cleanly or is damaged; everything readable was kept",
    );
  metrics.onCollect(() => {
    metrics.wal.bytes.set(ingest.wal.bytes);
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

function stopOnSignals(server: Server, log: Logger): void {
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => {
      log.warn("the stop took too long; what is left in the write-ahead log is stored at the next start");
      process.exit(0);
    }, STOP_DEADLINE_MS);
    server.stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, "the stop failed");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
}

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLogger(config.logLevel);
  const server = await startServer(config, log);
  stopOnSignals(server, log);
  printWelcome(server.url);
}

try {
  await main();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`obs: ${error instanceof ConfigError ? message : `cannot start: ${message}`}\n`);
  process.exit(1);
}
