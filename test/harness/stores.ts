import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import postgres, { type Sql } from "postgres";
import { createLogger } from "../../src/log.ts";
import {
  type ClickHouseEndpoint,
  createClickHouse,
  ensureClickHouseDatabase,
  formatClickHouseUrl,
  parseClickHouseUrl,
  quoteClickHouseIdentifier,
} from "../../src/storage/clickhouse.ts";
import { loadSecrets } from "../../src/storage/embedded/secrets.ts";
import { startEmbeddedClickHouse, startEmbeddedPostgres } from "../../src/storage/embedded/start-engine.ts";
import { MIGRATIONS_DIRECTORY, migrate } from "../../src/storage/migrations/migrate.ts";
import { createPostgres } from "../../src/storage/postgres.ts";

/** Fresh databases of one suite in the engines all suites share, with the repository's migrations applied. */
export interface TestStores {
  readonly clickhouse: ClickHouseClient;
  /** `http://user:password@host:port/database`, what `CLICKHOUSE_URL` takes. */
  readonly clickhouseUrl: string;
  readonly clickhouseEndpoint: ClickHouseEndpoint;
  readonly clickhouseDatabase: string;
  readonly postgres: Sql;
  /** What `DATABASE_URL` takes. */
  readonly postgresUrl: string;
  /** Drops the databases and closes the clients. */
  readonly close: () => Promise<void>;
}

interface SharedEngines {
  readonly clickhouse: ClickHouseEndpoint;
  /** As the role that owns the databases. */
  readonly postgresUrl: string;
  /** As superuser, who may create databases. */
  readonly postgresAdminUrl: string;
  created: number;
}

/** Bun runs every test file in one process but gives each its own modules; what they share hangs on the process. */
const REGISTRY_KEY: unique symbol = Symbol.for("obs.test.shared-engines");
const registry: typeof globalThis & { [REGISTRY_KEY]?: Promise<SharedEngines> } = globalThis;

/** Waits until the test process is gone, then removes the folder as soon as the engines no longer write to it. */
const SWEEP = 'cat >/dev/null; for try in 1 2 3 4 5 6 7 8; do sleep 1; rm -rf "$0" 2>/dev/null && exit; done';

async function startSharedEngines(): Promise<SharedEngines> {
  const directory = mkdtempSync(join(tmpdir(), "obs-test-stores-"));
  const secrets = loadSecrets(directory);
  const log = createLogger("silent");
  const [clickhouse, postgresStore] = await Promise.all([
    startEmbeddedClickHouse(directory, secrets, log),
    // What a test writes need not outlive the machine.
    startEmbeddedPostgres(directory, secrets, log, { fsync: "off" }),
  ]);
  // The engines end with this process in any case; its directory is removed by one that outlives it.
  const sweeper = Bun.spawn(["sh", "-c", SWEEP, directory], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });
  sweeper.unref();
  const adminUrl = new URL(postgresStore.url);
  adminUrl.username = "postgres";
  adminUrl.password = secrets.postgresSuperuserPassword;
  return {
    clickhouse: parseClickHouseUrl(clickhouse.url),
    postgresUrl: postgresStore.url,
    postgresAdminUrl: adminUrl.href,
    created: 0,
  };
}

/**
 * Databases for one suite: call it in `beforeAll`, and `close()` in `afterAll`. The first call of a test run starts
 * the engines, which takes about a second; later ones take about a tenth.
 */
export async function openTestStores(options: { migrations?: string | null } = {}): Promise<TestStores> {
  registry[REGISTRY_KEY] ??= startSharedEngines();
  const engines = await registry[REGISTRY_KEY];
  engines.created += 1;
  const name = `suite_${engines.created}`;

  const admin = postgres(engines.postgresAdminUrl, { max: 1, onnotice: () => undefined });
  await admin`CREATE DATABASE ${admin(name)} OWNER obs`;
  const url = new URL(engines.postgresUrl);
  url.pathname = `/${name}`;
  const clickhouseEndpoint = { ...engines.clickhouse, database: name };
  await ensureClickHouseDatabase(clickhouseEndpoint);

  const clickhouse = createClickHouse(clickhouseEndpoint);
  const sql = createPostgres(url.href);
  const migrations = options.migrations === undefined ? MIGRATIONS_DIRECTORY : options.migrations;
  if (migrations !== null) {
    await migrate({ postgres: sql, clickhouse, directory: migrations, log: createLogger("silent") });
  }
  return {
    clickhouse,
    clickhouseUrl: formatClickHouseUrl(clickhouseEndpoint),
    clickhouseEndpoint,
    clickhouseDatabase: name,
    postgres: sql,
    postgresUrl: url.href,
    close: async () => {
      await sql.end({ timeout: 1 });
      await clickhouse.command({ query: `DROP DATABASE IF EXISTS ${quoteClickHouseIdentifier(name)}` });
      await clickhouse.close();
      await admin`DROP DATABASE IF EXISTS ${admin(name)} WITH (FORCE)`;
      await admin.end({ timeout: 1 });
    },
  };
}
