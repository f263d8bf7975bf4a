import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Sql } from "postgres";
import type { Logger } from "../../log.ts";
import { MIGRATION_LOCK_TIMEOUT_MS } from "../limits.ts";
import { MigrationError } from "./migration-error.ts";
import {
  type AppliedMigration,
  type Migration,
  pendingMigrations,
  readMigrations,
} from "./migration-files.ts";
import { splitStatements } from "./split-statements.ts";

interface MigrateOptions {
  readonly postgres: Sql;
  /** Its database must exist. */
  readonly clickhouse: ClickHouseClient;
  /** Holds the folders `postgres` and `clickhouse`. */
  readonly directory: string;
  readonly log: Logger;
}

/** The lock all instances of the server agree on: the bytes of "obs_migr" as a number. */
const ADVISORY_LOCK_KEY = "8026104339622356850";

/** The migrations of this repository. */
export const MIGRATIONS_DIRECTORY = join(import.meta.dir, "..", "..", "..", "migrations");

/**
 * Brings both stores to the newest schema. Instances that start at the same time take turns by a lock in Postgres,
 * which covers ClickHouse as well. Throws `MigrationError` when a migration fails, was edited, or is unknown.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const known = {
    postgres: readMigrations(join(options.directory, "postgres")),
    clickhouse: readMigrations(join(options.directory, "clickhouse")),
  };
  const holder = await options.postgres.reserve();
  try {
    await holder`SELECT set_config('lock_timeout', ${String(MIGRATION_LOCK_TIMEOUT_MS)}, false)`;
    await holder`SELECT pg_advisory_lock(${ADVISORY_LOCK_KEY}::bigint)`;
    try {
      await migratePostgres(options.postgres, known.postgres, options.log);
      await migrateClickHouse(options.clickhouse, known.clickhouse, options.log);
    } finally {
      await holder`SELECT pg_advisory_unlock(${ADVISORY_LOCK_KEY}::bigint)`;
      await holder`RESET lock_timeout`;
    }
  } finally {
    holder.release();
  }
}

function failed(store: string, migration: Migration, cause: unknown): MigrationError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MigrationError(`${store} migration ${migration.name} failed: ${reason}`, { cause });
}

/** Says what is done to a store: of one that has data each migration, of a new one, where all are due, that it is made. */
function telling(store: string, before: readonly AppliedMigration[], log: Logger) {
  const isNew = before.length === 0;
  let count = 0;
  return {
    applied({ name }: Migration): void {
      count += 1;
      log[isNew ? "debug" : "info"]({ migration: name }, `applied a ${store} migration`);
    },
    end(): void {
      if (isNew && count > 0) log.info({ migrations: count }, `made the tables in ${store}`);
    },
  };
}

async function migratePostgres(sql: Sql, known: readonly Migration[], log: Logger): Promise<void> {
  await sql`
    CREATE TABLE IF NOT EXISTS schema_migrations (
      version integer PRIMARY KEY,
      name text NOT NULL,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`;
  const applied = await sql<AppliedMigration[]>`
    SELECT version, name, checksum FROM schema_migrations ORDER BY version`;
  const told = telling("Postgres", applied, log);
  for (const migration of pendingMigrations("Postgres", known, applied)) {
    try {
      await sql.begin(async (tx) => {
        await tx.unsafe(migration.sql);
        await tx`
          INSERT INTO schema_migrations (version, name, checksum)
          VALUES (${migration.version}, ${migration.name}, ${migration.checksum})`;
      });
    } catch (error) {
      throw failed("Postgres", migration, error);
    }
    told.applied(migration);
  }
  told.end();
}

/**
 * ClickHouse has no transactions for definitions: a migration that fails half-way is run again from its beginning,
 * so its statements must be ones that may run twice (`IF NOT EXISTS`).
 */
async function migrateClickHouse(
  client: ClickHouseClient,
  known: readonly Migration[],
  log: Logger,
): Promise<void> {
  await client.command({
    query: `
      CREATE TABLE IF NOT EXISTS schema_migrations (
        version UInt32,
        name String,
        checksum String,
        applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
      ) ENGINE = MergeTree ORDER BY version SETTINGS fsync_after_insert = 1`,
  });
  const result = await client.query({
    query: "SELECT version, name, checksum FROM schema_migrations ORDER BY version",
    format: "JSONEachRow",
  });
  const applied = await result.json<AppliedMigration>();
  const told = telling("ClickHouse", applied, log);
  for (const migration of pendingMigrations("ClickHouse", known, applied)) {
    try {
      for (const statement of splitStatements(migration.sql)) await client.command({ query: statement });
      await client.insert({
        table: "schema_migrations",
        values: [{ version: migration.version, name: migration.name, checksum: migration.checksum }],
        format: "JSONEachRow",
      });
    } catch (error) {
      throw failed("ClickHouse", migration, error);
    }
    told.applied(migration);
  }
  told.end();
}
