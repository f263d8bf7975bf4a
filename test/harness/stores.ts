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
import { temporaryDirectory } from "./temporary-directory.ts";

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
  /** A database in each engine with every migration, of which those of suites are copies; made by the first that wants one. */
  template: Promise<Template> | null;
}

interface Template {
  readonly database: string;
  readonly clickhouseTables: readonly string[];
}

/** Bun runs every test file in one process; what the files share hangs on the process, under a name nobody else takes. */
const REGISTRY_KEY: unique symbol = Symbol.for("obs.test.shared-engines");
const registry: typeof globalThis & { [REGISTRY_KEY]?: Promise<SharedEngines> } = globalThis;

async function startSharedEngines(): Promise<SharedEngines> {
  const directory = temporaryDirectory().path;
  const secrets = loadSecrets(directory);
  const log = createLogger("silent");
  const [clickhouse, postgresStore] = await Promise.all([
    startEmbeddedClickHouse(directory, secrets, log),
    // What a test writes need not outlive the machine.
    startEmbeddedPostgres(directory, secrets, log, { fsync: "off" }),
  ]);
  const adminUrl = new URL(postgresStore.url);
  adminUrl.username = "postgres";
  adminUrl.password = secrets.postgresSuperuserPassword;
  return {
    clickhouse: parseClickHouseUrl(clickhouse.url),
    postgresUrl: postgresStore.url,
    postgresAdminUrl: adminUrl.href,
    created: 0,
    template: null,
  };
}

/** Copying takes a quarter of the processor time that migrations and a look at what is applied do. */
async function makeTemplate(engines: SharedEngines, admin: Sql): Promise<Template> {
  const database = "suite_template";
  await admin`CREATE DATABASE ${admin(database)} OWNER obs`;
  const url = new URL(engines.postgresUrl);
  url.pathname = `/${database}`;
  const endpoint = { ...engines.clickhouse, database };
  await ensureClickHouseDatabase(endpoint);
  const clickhouse = createClickHouse(endpoint);
  const sql = createPostgres(url.href);
  await migrate({ postgres: sql, clickhouse, directory: MIGRATIONS_DIRECTORY, log: createLogger("silent") });
  const result = await clickhouse.query({
    query: "SELECT name, engine FROM system.tables WHERE database = currentDatabase()",
    format: "JSONEachRow",
  });
  const tables = await result.json<{ name: string; engine: string }>();
  const other = tables.find((table) => !table.engine.endsWith("MergeTree"));
  if (other !== undefined) throw new Error(`${other.name} is ${other.engine}: copy it as what it is`);
  await clickhouse.close();
  // A database that somebody is connected to cannot be copied.
  await sql.end();
  return { database, clickhouseTables: tables.map(({ name }) => name) };
}

/** What `migrate` would leave, in an empty database. */
async function copyTables(template: Template, clickhouse: ClickHouseClient): Promise<void> {
  const from = quoteClickHouseIdentifier(template.database);
  await Promise.all(
    template.clickhouseTables.map(quoteClickHouseIdentifier).map(async (table) => {
      await clickhouse.command({ query: `CREATE TABLE ${table} AS ${from}.${table}` });
    }),
  );
  await clickhouse.command({
    query: `INSERT INTO schema_migrations SELECT * FROM ${from}.schema_migrations`,
  });
}

/**
 * Databases for one suite: call it in `beforeAll`, and `close()` in `afterAll`. The first call of a test run starts
 * the engines and makes the template, which takes seconds; later ones take a tenth of one.
 */
export async function openTestStores(options: { migrations?: string | null } = {}): Promise<TestStores> {
  registry[REGISTRY_KEY] ??= startSharedEngines();
  const engines = await registry[REGISTRY_KEY];
  engines.created += 1;
  const name = `suite_${engines.created}`;

  // It makes and drops databases: the types of their columns, which the driver would ask for, are nothing to it.
  const admin = postgres(engines.postgresAdminUrl, { max: 1, onnotice: () => undefined, fetch_types: false });
  const isMigrated = options.migrations === undefined;
  if (isMigrated) engines.template ??= makeTemplate(engines, admin);
  const template = isMigrated ? await engines.template : null;
  // The default strategy writes every page to the write-ahead log, which is four times the work; nobody needs it there.
  await admin`
    CREATE DATABASE ${admin(name)} OWNER obs TEMPLATE ${admin(template?.database ?? "template1")} STRATEGY file_copy`;
  const url = new URL(engines.postgresUrl);
  url.pathname = `/${name}`;
  const clickhouseEndpoint = { ...engines.clickhouse, database: name };
  await ensureClickHouseDatabase(clickhouseEndpoint);

  const clickhouse = createClickHouse(clickhouseEndpoint);
  const sql = createPostgres(url.href);
  if (template !== null) await copyTables(template, clickhouse);
  if (options.migrations != null) {
    await migrate({
      postgres: sql,
      clickhouse,
      directory: options.migrations,
      log: createLogger("silent"),
    });
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
