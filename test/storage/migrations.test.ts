import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLogger } from "../../src/log.ts";
import { MIGRATIONS_DIRECTORY, migrate } from "../../src/storage/migrations/migrate.ts";
import { readMigrations } from "../../src/storage/migrations/migration-files.ts";
import { splitStatements } from "../../src/storage/migrations/split-statements.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

let stores: TestStores;
let directory: TemporaryDirectory;
const lines: string[] = [];
const log = createLogger("info", { write: (line) => lines.push(line) });

beforeAll(async () => {
  stores = await openTestStores({ migrations: null });
  directory = temporaryDirectory();
  mkdirSync(join(directory.path, "postgres"));
  mkdirSync(join(directory.path, "clickhouse"));
  writeMigration("postgres", "0001_first.sql", "CREATE TABLE one (n int); INSERT INTO one VALUES (1);");
  writeMigration(
    "clickhouse",
    "0001_first.sql",
    "-- the first; table\nCREATE TABLE IF NOT EXISTS one (n UInt8, s String DEFAULT ';') ENGINE = Log;\nINSERT INTO one (n) VALUES (1);\n",
  );
});

afterAll(async () => {
  directory[Symbol.dispose]();
  await stores.close();
});

function writeMigration(store: string, name: string, sql: string): void {
  writeFileSync(join(directory.path, store, name), sql);
}

const run = (postgres = stores.postgres) =>
  migrate({ postgres, clickhouse: stores.clickhouse, directory: directory.path, log });

async function clickhouseRows(query: string): Promise<unknown[]> {
  return await (await stores.clickhouse.query({ query, format: "JSONEachRow" })).json();
}

// The tests of this block tell one story in order: the stores of a growing installation.
describe("migrations", () => {
  test("instances that start at once apply each migration once", async () => {
    const pools = Array.from({ length: 5 }, () => createPostgres(stores.postgresUrl, { maxConnections: 2 }));
    await Promise.all(pools.map((pool) => run(pool)));
    await Promise.all(pools.map((pool) => pool.end()));
    expect(await stores.postgres`SELECT n FROM one`).toHaveLength(1);
    expect(await clickhouseRows("SELECT n, s FROM one")).toEqual([{ n: 1, s: ";" }]);
    const ledger = await stores.postgres`SELECT version, name FROM schema_migrations`;
    expect(ledger.map((row) => `${row.version} ${row.name}`)).toEqual(["1 0001_first.sql"]);
  });

  test("a further run changes nothing", async () => {
    await run();
    expect(await stores.postgres`SELECT n FROM one`).toHaveLength(1);
    expect(await clickhouseRows("SELECT n FROM one")).toHaveLength(1);
  });

  test("a Postgres migration that fails leaves nothing behind and says which one it was", async () => {
    writeMigration("postgres", "0002_second.sql", "CREATE TABLE two (n int); SELECT * FROM nowhere;");
    await expect(run()).rejects.toThrow(
      'Postgres migration 0002_second.sql failed: relation "nowhere" does not exist',
    );
    const [row] = await stores.postgres`SELECT to_regclass('two') AS name`;
    expect(row?.name).toBeNull();
    writeMigration("postgres", "0002_second.sql", "CREATE TABLE two (n int);");
    await run();
  });

  test("a ClickHouse migration that fails half-way is run again from its beginning", async () => {
    const table = "CREATE TABLE IF NOT EXISTS two (n UInt8) ENGINE = Log;\n";
    writeMigration("clickhouse", "0002_second.sql", `${table}INSERT INTO nowhere VALUES (1);`);
    await expect(run()).rejects.toThrow("ClickHouse migration 0002_second.sql failed: ");
    writeMigration("clickhouse", "0002_second.sql", `${table}INSERT INTO two VALUES (2);`);
    await run();
    expect(await clickhouseRows("SELECT n FROM two")).toEqual([{ n: 2 }]);
  });

  for (const store of ["postgres", "clickhouse"]) {
    test(`an edited ${store} migration is refused`, async () => {
      const path = join(directory.path, store, "0001_first.sql");
      const original = readFileSync(path, "utf8");
      writeFileSync(path, `${original} -- edited`);
      await expect(run()).rejects.toThrow("migration 0001_first.sql was changed after it was applied");
      writeFileSync(path, original);
      await run();
    });
  }

  test("stores that are ahead of this version are refused", async () => {
    await stores.postgres`INSERT INTO schema_migrations (version, name, checksum) VALUES (9, '0009_later.sql', '')`;
    await expect(run()).rejects.toThrow(
      "Postgres has migration 0009_later.sql, which this version does not know",
    );
    await stores.postgres`DELETE FROM schema_migrations WHERE version = 9`;
  });

  test("each was told of once: of a new store together, of one with data by its name", () =>
    expect(lines.map((line) => JSON.parse(line)).map(({ msg, migration }) => [msg, migration])).toEqual([
      ["made the tables in Postgres", undefined],
      ["made the tables in ClickHouse", undefined],
      ["applied a Postgres migration", "0002_second.sql"],
      ["applied a ClickHouse migration", "0002_second.sql"],
    ]));
});

test("the repository's migrations can be applied twice", async () => {
  const fresh = await openTestStores();
  await migrate({ ...fresh, directory: MIGRATIONS_DIRECTORY, log });
  await fresh.close();
});

test("files that do not count from 0001 without a gap are refused", () => {
  using other = temporaryDirectory();
  writeFileSync(join(other.path, "0002_late.sql"), "");
  expect(() => readMigrations(other.path)).toThrow(
    "0002_late.sql: expected a file named 0001_name.sql here.",
  );
});

test("statements are split at semicolons that are not inside text, names or comments", () => {
  const sql = `
    SELECT 'a;b', 'it''s; \\'; ok', "c;\\"d", \`e;\`; -- one; two
    /* three; four */ SELECT 2 /* ; */;
    SELECT $$ five; six $$;;
    -- the end;
  `;
  expect(splitStatements(sql)).toEqual([
    "SELECT 'a;b', 'it''s; \\'; ok', \"c;\\\"d\", `e;`",
    "SELECT 2",
    "SELECT $$ five; six $$",
  ]);
  expect(splitStatements("SELECT 'unterminated; text")).toEqual(["SELECT 'unterminated", "text"]);
});
