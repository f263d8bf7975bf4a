import type { ClickHouseClient } from "@clickhouse/client";
import type { Redis } from "ioredis";
import type { Sql } from "postgres";
import { fulfilledWithin } from "../concurrency/deadline.ts";
import { patient } from "../concurrency/patience.ts";
import { DependencyError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { isPostgresAway } from "./ask-postgres.ts";
import {
  type ClickHouseEndpoint,
  createClickHouse,
  ensureClickHouseDatabase,
  parseClickHouseUrl,
} from "./clickhouse.ts";
import { type DataDirectoryLock, lockDataDirectory } from "./data-directory-lock.ts";
import { tellOfLostParts } from "./embedded/lost-parts.ts";
import { type EngineSecrets, loadSecrets } from "./embedded/secrets.ts";
import {
  type EmbeddedStore,
  startEmbeddedClickHouse,
  startEmbeddedPostgres,
} from "./embedded/start-engine.ts";
import { directoryIdentity } from "./instance/directory-identity.ts";
import { InstanceLease } from "./instance/instance-lease.ts";
import {
  CLIENT_CLOSE_TIMEOUT_MS,
  EXTERNAL_STORE_REPORT_EVERY_MS,
  EXTERNAL_STORE_RETRY_DELAY_MS,
  REDIS_START_TIMEOUT_MS,
} from "./limits.ts";
import { MIGRATIONS_DIRECTORY, migrate } from "./migrations/migrate.ts";
import { createPostgres } from "./postgres.ts";
import { StoreMonitor, type StoreStatus } from "./readiness.ts";
import { createRedis } from "./redis.ts";

/** The stores of one server, migrated and watched. */
export interface Stores {
  readonly clickhouse: ClickHouseClient;
  readonly clickhouseEndpoint: ClickHouseEndpoint;
  readonly postgres: Sql;
  /** Null unless `REDIS_URL` is set. It may be unreachable: the server starts without waiting for it. */
  readonly redis: Redis | null;
  /** The number of this server among those that share its Postgres. */
  readonly instance: InstanceLease;
  /** How each store is, from the latest probes; never waits. */
  readonly statuses: () => readonly StoreStatus[];
  /** Closes clients, engines and the data directory, in this order, within about 9 s. Repeated calls are one. */
  readonly close: () => Promise<void>;
}

/** Told of each store, while all of them are being opened, when it answers. */
type OnAnswer = (store: "clickhouse" | "postgres") => void;

interface StoreConfig {
  readonly dataDirectory: string;
  /** Null starts one of our own. */
  readonly clickhouseUrl: string | null;
  readonly databaseUrl: string | null;
  /** Null does without. */
  readonly redisUrl: string | null;
}

/** What is to be closed if the opening fails half-way, and at the end. */
class OpenParts {
  readonly engines: EmbeddedStore[] = [];
  readonly clients: (() => Promise<void>)[] = [];
  readonly monitors: StoreMonitor[] = [];
  /** Ended by the first part that fails for good: nothing waits for the others any more. */
  readonly opening = new AbortController();
  instance: InstanceLease | null = null;
  readonly #lock: DataDirectoryLock;
  #closing: Promise<void> | null = null;

  constructor(lock: DataDirectoryLock) {
    this.#lock = lock;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all(this.monitors.map((monitor) => monitor.stop()));
    await this.instance?.close();
    // Before the engines: an open connection holds ClickHouse up.
    await fulfilledWithin(Promise.allSettled(this.clients.map((close) => close())), CLIENT_CLOSE_TIMEOUT_MS);
    await Promise.all(this.engines.map((engine) => engine.supervisor.stop()));
    this.#lock.release();
  }
}

/**
 * Takes the data directory, starts the engines that are not configured to be elsewhere, waits for those that are for as
 * long as it takes, and brings their schemas up to date. Throws a `DataDirectoryLockedError`, an `UnsupportedPlatformError`, a
 * `MigrationError` or another error with a message for the operator; then nothing is left open.
 */
export async function openStores(
  config: StoreConfig,
  log: Logger,
  onAnswer: OnAnswer = () => undefined,
): Promise<Stores> {
  const parts = new OpenParts(lockDataDirectory(config.dataDirectory));
  try {
    return await openParts(config, log, parts, onAnswer);
  } catch (error) {
    await parts.close();
    throw error;
  }
}

async function openParts(
  config: StoreConfig,
  log: Logger,
  parts: OpenParts,
  onAnswer: OnAnswer,
): Promise<Stores> {
  const isAllConfigured = config.clickhouseUrl !== null && config.databaseUrl !== null;
  const secrets = isAllConfigured ? null : loadSecrets(config.dataDirectory);
  // Settled and not merely awaited: when one fails, the other may still be starting and has to be closed.
  const opened = await Promise.allSettled([
    openingOf(parts, openClickHouse(config, secrets, log, parts), () => onAnswer("clickhouse")),
    openingOf(parts, openPostgres(config, secrets, log, parts), () => onAnswer("postgres")),
  ]);
  const [clickhouseResult, postgresResult] = opened;
  if (clickhouseResult.status === "rejected") throw clickhouseResult.reason;
  if (postgresResult.status === "rejected") throw postgresResult.reason;
  const { client: clickhouse, endpoint: clickhouseEndpoint } = clickhouseResult.value;
  const postgres = postgresResult.value;
  const instance = await untilPostgresStays(log, async () => {
    await migrate({ postgres, clickhouse, directory: MIGRATIONS_DIRECTORY, log });
    return InstanceLease.open({
      sql: postgres,
      place: directoryIdentity(config.dataDirectory),
      log,
      now: Date.now,
      monotonicNow: () => performance.now(),
    });
  });
  parts.instance = instance;
  const redis = config.redisUrl === null ? null : await openRedis(config.redisUrl, log, parts);
  for (const monitor of parts.monitors) monitor.start();
  return {
    clickhouse,
    clickhouseEndpoint,
    postgres,
    redis,
    instance,
    statuses: () => parts.monitors.map((monitor) => monitor.status()),
    close: () => parts.close(),
  };
}

async function openClickHouse(
  config: StoreConfig,
  secrets: EngineSecrets | null,
  log: Logger,
  parts: OpenParts,
): Promise<{ client: ClickHouseClient; endpoint: ClickHouseEndpoint }> {
  let url = config.clickhouseUrl;
  let embedded: EmbeddedStore | undefined;
  if (url === null && secrets !== null) {
    embedded = await startEmbeddedClickHouse(config.dataDirectory, secrets, log);
    parts.engines.push(embedded);
    url = embedded.url;
  }
  if (url === null) throw new Error("An embedded ClickHouse needs secrets.");
  const endpoint = parseClickHouseUrl(url);
  const { signal } = parts.opening;
  await waitForStore("ClickHouse", "CLICKHOUSE_URL", { log, signal }, () =>
    ensureClickHouseDatabase(endpoint),
  );
  const client = createClickHouse(endpoint);
  parts.clients.push(() => client.close());
  const lostParts = embedded === undefined ? [] : await tellOfLostParts(client, log);
  watch(parts, log, "clickhouse", { embedded, lostParts }, () => client.command({ query: "SELECT 1" }));
  return { client, endpoint };
}

async function openPostgres(
  config: StoreConfig,
  secrets: EngineSecrets | null,
  log: Logger,
  parts: OpenParts,
): Promise<Sql> {
  let url = config.databaseUrl;
  let embedded: EmbeddedStore | undefined;
  if (url === null && secrets !== null) {
    embedded = await startEmbeddedPostgres(config.dataDirectory, secrets, log);
    parts.engines.push(embedded);
    url = embedded.url;
  }
  if (url === null) throw new Error("An embedded Postgres needs secrets.");
  const client = createPostgres(url);
  parts.clients.push(() => client.end({ timeout: CLIENT_CLOSE_TIMEOUT_MS / 1000 }));
  const probe = () => client`SELECT 1`;
  await waitForStore("Postgres", "DATABASE_URL", { log, signal: parts.opening.signal }, probe);
  watch(parts, log, "postgres", { embedded }, probe);
  return client;
}

async function openRedis(url: string, log: Logger, parts: OpenParts): Promise<Redis> {
  const client = await createRedis(url, log);
  // Most often it is there at once; when not, the server starts without it.
  await fulfilledWithin(
    new Promise<void>((ready) => client.once("ready", ready)),
    patient(REDIS_START_TIMEOUT_MS),
  );
  parts.clients.push(async () => client.disconnect());
  watch(parts, log, "redis", {}, () => client.ping());
  return client;
}

function watch(
  parts: OpenParts,
  log: Logger,
  name: string,
  {
    embedded,
    lostParts = [],
  }: { readonly embedded?: EmbeddedStore | undefined; readonly lostParts?: readonly string[] },
  probe: () => Promise<unknown>,
): void {
  const engine = embedded === undefined ? {} : { engine: () => embedded.supervisor.status() };
  parts.monitors.push(new StoreMonitor({ name, probe, log, lostParts, ...engine }));
}

/** One of several that are opened at a time; what it fails with is what the opening fails with. */
async function openingOf<T>({ opening }: OpenParts, part: Promise<T>, onOpened: () => void): Promise<T> {
  try {
    const opened = await part;
    onOpened();
    return opened;
  } catch (error) {
    opening.abort(error);
    throw opening.signal.reason;
  }
}

/** Does it again where Postgres goes away in the middle, as one may that has just come back. */
async function untilPostgresStays<T>(log: Logger, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isAway = [error, error instanceof Error ? error.cause : undefined].some(isPostgresAway);
      if (!isAway) throw error;
      log.warn({ err: error }, "Postgres went away while its schema was looked at; once more");
      await Bun.sleep(EXTERNAL_STORE_RETRY_DELAY_MS);
    }
  }
}

/**
 * What no waiting cures. ClickHouse: unknown user or wrong password, access denied. Postgres: the same, and a
 * database that does not exist.
 */
const PERMANENT_CODES = new Set(["516", "497", "28P01", "28000", "3D000"]);

function isPermanent(error: unknown): boolean {
  return error instanceof Error && "code" in error && PERMANENT_CODES.has(String(error.code));
}

/**
 * Retries until a configured store answers, which may start with the server or be away for long: a server that gave up
 * would take with it what it can do without the store.
 */
async function waitForStore(
  name: string,
  variable: string,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
  probe: () => Promise<unknown>,
): Promise<void> {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      await probe();
      return;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (isPermanent(error)) {
        const message = `${name} cannot be used (${reason}): check ${variable}.`;
        throw new DependencyError(name, message, { retryable: true, cause: error });
      }
      if (performance.now() - reportedAtMs > EXTERNAL_STORE_REPORT_EVERY_MS) {
        reportedAtMs = performance.now();
        log.warn({ store: name, reason }, `store does not answer yet, waiting for it (${variable})`);
      }
      await Bun.sleep(EXTERNAL_STORE_RETRY_DELAY_MS);
      signal.throwIfAborted();
    }
  }
}
