import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { createLogger } from "../../src/log.ts";
import { basicAuthorization } from "../../src/storage/embedded/clickhouse-config.ts";
import { commandLineOf } from "../../src/storage/embedded/process-identity.ts";
import { tableDirectorySync } from "../../src/storage/embedded/table-directory.ts";
import { openStores, type Stores } from "../../src/storage/open.ts";
import { eventually } from "../harness/eventually.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

// A fresh Postgres takes seconds on a busy machine.
let directory: TemporaryDirectory;
let stores: Stores;

beforeAll(async () => {
  directory = temporaryDirectory();
  const config = { dataDirectory: directory.path, clickhouseUrl: null, databaseUrl: null, redisUrl: null };
  stores = await openStores(config, createLogger("silent"));
});

afterAll(async () => {
  await stores.close();
  directory[Symbol.dispose]();
});

function statusOf(name: string) {
  const found = stores.statuses().find((status) => status.name === name);
  if (found === undefined) throw new Error(`no store ${name}`);
  return found;
}

function clickhousePid(): number {
  const status = readFileSync(join(directory.path, "clickhouse", "store", "status"), "utf8");
  return Number(/^PID: (\d+)$/m.exec(status)?.[1]);
}

function postmasterPid(): number {
  return Number.parseInt(
    readFileSync(join(directory.path, "postgres", "cluster", "postmaster.pid"), "utf8"),
    10,
  );
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

function modeOf(...path: string[]): string {
  return (statSync(join(directory.path, ...path)).mode & 0o777).toString(8);
}

describe("the embedded ClickHouse leaves nothing of a log entry to the system", () => {
  test("neither what an insert wrote nor what a merge made of it", async () => {
    const result = await stores.clickhouse.query({
      query: `SELECT create_table_query AS definition,
                     (SELECT value FROM system.merge_tree_settings WHERE name = 'min_rows_to_fsync_after_merge') AS merged
              FROM system.tables WHERE database = currentDatabase() AND name = 'logs'`,
      format: "JSONEachRow",
    });
    const [found] = await result.json<{ definition: string; merged: string }>();
    expect(found?.definition).toContain("fsync_after_insert = 1");
    expect(found?.definition).toContain("fsync_part_directory = 1");
    // Its sources are removed within half a minute.
    expect(found?.merged).toBe("1");
  });

  test("nor the names of its parts, in the directory that the table really has", async () => {
    const sync = tableDirectorySync(stores.clickhouse, "logs", directory.path);
    await sync();
    await sync();
    await expect(tableDirectorySync(stores.clickhouse, "nothing", directory.path)()).rejects.toThrow(
      "the table nothing has no directory",
    );
  });
});

describe("an embedded engine killed with SIGKILL", () => {
  test("ClickHouse is reported, started again on its port, and has its rows", async () => {
    await stores.clickhouse.command({
      query: "CREATE TABLE kept (n UInt32) ENGINE = MergeTree ORDER BY n SETTINGS fsync_after_insert = 1",
    });
    await stores.clickhouse.insert({ table: "kept", values: [{ n: 7 }], format: "JSONEachRow" });
    const before = statusOf("clickhouse").restarts;
    process.kill(clickhousePid(), "SIGKILL");
    const down = await eventually("readiness shows it", () => {
      const status = statusOf("clickhouse");
      return status.ok ? null : status;
    });
    expect(down.detail).toContain("embedded engine");
    await eventually(
      "readiness shows the restart",
      () => statusOf("clickhouse").ok && statusOf("clickhouse").restarts === before + 1,
    );
    const result = await stores.clickhouse.query({ query: "SELECT n FROM kept", format: "JSONEachRow" });
    expect(await result.json()).toEqual([{ n: 7 }]);
  });

  test("Postgres is started again and has its rows", async () => {
    await stores.postgres`CREATE TABLE kept AS SELECT 7 AS n`;
    const before = statusOf("postgres").restarts;
    process.kill(postmasterPid(), "SIGKILL");
    await eventually(
      "readiness shows the restart",
      () => statusOf("postgres").ok && statusOf("postgres").restarts === before + 1,
    );
    const rows = await stores.postgres`SELECT n FROM kept`;
    expect(rows.map((row) => row.n)).toEqual([7]);
  });

  test.skipIf(process.platform !== "linux")(
    "Postgres is taken over when the process that watches it is killed",
    async () => {
      const before = statusOf("postgres").restarts;
      const orphan = postmasterPid();
      process.kill(parentOf(orphan), "SIGKILL");
      await eventually(
        "readiness shows the restart",
        () => statusOf("postgres").ok && statusOf("postgres").restarts === before + 1,
      );
      expect(postmasterPid()).not.toBe(orphan);
      expect(commandLineOf(orphan)).toBe("");
      expect(await stores.postgres`SELECT 1 AS one`).toHaveLength(1);
    },
  );
});

describe("without the credentials in the data directory", () => {
  const ask = (headers: Record<string, string>, path = "/?query=SELECT+1") =>
    fetch(`${stores.clickhouseEndpoint.origin}${path}`, { headers: { ...headers, Connection: "close" } });

  test("ClickHouse answers no request", async () => {
    const { password } = stores.clickhouseEndpoint;
    const refused = await Promise.all([
      ask({}),
      ask({}, "/ping"),
      ask({}, "/play"),
      ask({}, "/?query=SELECT+1&user=default"),
      ask({ "X-ClickHouse-User": "default" }),
      ask({ Authorization: basicAuthorization("default", "") }),
      ask({ Authorization: basicAuthorization("obs", `${password}x`) }),
    ]);
    expect(refused.map((response) => response.ok)).toEqual(refused.map(() => false));
    const accepted = await ask({ Authorization: basicAuthorization("obs", password) });
    expect(await accepted.text()).toBe("1\n");
  });

  test("Postgres accepts no connection", async () => {
    const port = stores.postgres.options.port[0];
    for (const user of ["obs", "postgres"]) {
      const sql = postgres(`postgres://${user}:wrong@127.0.0.1:${port}/obs`, { max: 1 });
      await expect((async () => await sql`SELECT 1`)()).rejects.toThrow("password authentication failed");
      await sql.end();
    }
  });
});

test("the data directory and everything secret in it is readable by the owner only", () => {
  expect(modeOf()).toBe("700");
  expect(modeOf("secrets.json")).toBe("600");
  expect(modeOf("clickhouse")).toBe("700");
  expect(modeOf("clickhouse", "config.xml")).toBe("600");
  expect(modeOf("clickhouse", "users.xml")).toBe("600");
  expect(modeOf("postgres")).toBe("700");
  expect(modeOf("postgres", "cluster")).toBe("700");
  expect(modeOf("log", "clickhouse.log")).toBe("600");
  expect(modeOf("log", "postgres.log")).toBe("600");
});

test("the server's Postgres role is no superuser and owns its database", async () => {
  const [role] =
    await stores.postgres`SELECT rolsuper, rolcreatedb FROM pg_roles WHERE rolname = current_user`;
  expect(role).toEqual({ rolsuper: false, rolcreatedb: false });
});

test("the engines' own log holds no statements of ours", async () => {
  await stores.clickhouse.query({ query: "SELECT 'needle-in-a-statement'", format: "JSONEachRow" });
  await stores.postgres`SELECT 'needle-in-a-statement'`;
  for (const name of ["clickhouse.log", "postgres.log"]) {
    expect(readFileSync(join(directory.path, "log", name), "utf8")).not.toContain("needle-in-a-statement");
  }
});
