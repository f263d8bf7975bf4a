import postgres from "postgres";
import type { Logger } from "../../log.ts";
import { ORGANIZATION_ROLE } from "../organization-transaction.ts";
import { CLICKHOUSE_USER, clickhouseEngine } from "./clickhouse-engine.ts";
import { findFreePort } from "./free-port.ts";
import { currentPlatform, locateClickHouseLibrary, locatePostgresFiles } from "./platform.ts";
import { POSTGRES_USER, postgresEngine } from "./postgres-engine.ts";
import type { EngineSecrets } from "./secrets.ts";
import { Supervisor } from "./supervisor.ts";

/** Created at the first use, see `ensureClickHouseDatabase`. */
const CLICKHOUSE_DATABASE = "obs";

/** An engine under supervision and the URL at which it answers for the rest of the server's life. */
export interface EmbeddedStore {
  readonly supervisor: Supervisor;
  /** With credentials: never to be logged. */
  readonly url: string;
}

/** Starts ClickHouse under `<dataDirectory>/clickhouse` and resolves when it answers. The directory must be locked by us. */
export async function startEmbeddedClickHouse(
  dataDirectory: string,
  secrets: EngineSecrets,
  log: Logger,
): Promise<EmbeddedStore> {
  const libraryPath = locateClickHouseLibrary(currentPlatform());
  const port = await findFreePort();
  const password = secrets.clickhousePassword;
  const supervisor = new Supervisor(clickhouseEngine({ dataDirectory, libraryPath, port, password }), log);
  await supervisor.start();
  return {
    supervisor,
    url: `http://${CLICKHOUSE_USER}:${password}@127.0.0.1:${port}/${CLICKHOUSE_DATABASE}`,
  };
}

/**
 * Starts Postgres under `<dataDirectory>/postgres` and resolves when it answers. The directory must be locked by us.
 * `settings` go over the engine's own.
 */
export async function startEmbeddedPostgres(
  dataDirectory: string,
  secrets: EngineSecrets,
  log: Logger,
  settings: Readonly<Record<string, string>> = {},
): Promise<EmbeddedStore> {
  const native = locatePostgresFiles(currentPlatform());
  const port = await findFreePort();
  const engine = postgresEngine({
    dataDirectory,
    native,
    port,
    instance: secrets.instance,
    password: secrets.postgresPassword,
    superuserPassword: secrets.postgresSuperuserPassword,
    settings,
  });
  const supervisor = new Supervisor(engine, log);
  await supervisor.start();
  try {
    await ensureOrganizationRole(
      `postgres://postgres:${secrets.postgresSuperuserPassword}@127.0.0.1:${port}/${POSTGRES_USER}`,
    );
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
  return {
    supervisor,
    url: `postgres://${POSTGRES_USER}:${secrets.postgresPassword}@127.0.0.1:${port}/${POSTGRES_USER}`,
  };
}

/**
 * The role of row-level security, see the migrations. It is made here because the server's own role may make none, so
 * that whoever gets hold of that role cannot make itself a stronger one.
 */
async function ensureOrganizationRole(adminUrl: string): Promise<void> {
  const admin = postgres(adminUrl, { max: 1, onnotice: () => undefined });
  try {
    const [role] = await admin<{ is_granted: boolean }[]>`
      SELECT EXISTS (
        SELECT 1 FROM pg_auth_members m
        WHERE m.roleid = to_regrole(${ORGANIZATION_ROLE}) AND m.member = to_regrole(${POSTGRES_USER})
      ) AS is_granted`;
    if (role?.is_granted === true) return;
    await admin.unsafe(
      `CREATE ROLE ${ORGANIZATION_ROLE} NOLOGIN; GRANT ${ORGANIZATION_ROLE} TO ${POSTGRES_USER};`,
    );
  } finally {
    await admin.end({ timeout: 1 });
  }
}
