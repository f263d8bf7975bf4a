import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLogger } from "../../src/log.ts";
import { openStores } from "../../src/storage/open.ts";
import { StoreMonitor } from "../../src/storage/readiness.ts";
import { eventually } from "../harness/eventually.ts";
import { openTestRedis } from "../harness/redis.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

let external: TestStores;
const log = createLogger("silent");

beforeAll(async () => {
  external = await openTestStores({ migrations: null });
});

afterAll(async () => {
  await external.close();
});

test("configured stores are used, migrated and watched, and no engine is started", async () => {
  using directory = temporaryDirectory();
  const redis = await openTestRedis();
  const stores = await openStores(
    {
      dataDirectory: directory.path,
      clickhouseUrl: external.clickhouseUrl,
      databaseUrl: external.postgresUrl,
      redisUrl: redis?.url ?? null,
    },
    log,
  );
  expect(await stores.postgres`SELECT id FROM organizations`).toHaveLength(0);
  expect(stores.clickhouseEndpoint.database).toBe(external.clickhouseDatabase);
  expect(stores.statuses().map(({ name, ok }) => ({ name, ok }))).toEqual([
    { name: "clickhouse", ok: true },
    { name: "postgres", ok: true },
    ...(redis === null ? [] : [{ name: "redis", ok: true }]),
  ]);
  expect(existsSync(join(directory.path, "clickhouse"))).toBe(false);
  expect(existsSync(join(directory.path, "secrets.json"))).toBe(false);
  await stores.close();
  await redis?.close();
});

test("a Redis that is not there does not stop the start and is reported", async () => {
  using directory = temporaryDirectory();
  const stores = await openStores(
    {
      dataDirectory: directory.path,
      clickhouseUrl: external.clickhouseUrl,
      databaseUrl: external.postgresUrl,
      redisUrl: "redis://127.0.0.1:1",
    },
    log,
  );
  await eventually("redis is reported", () =>
    stores.statuses().some((status) => status.name === "redis" && !status.ok),
  );
  await stores.close();
});

test("wrong credentials end the start at once, name the variable and leave nothing open", async () => {
  using directory = temporaryDirectory();
  const config = {
    dataDirectory: directory.path,
    clickhouseUrl: external.clickhouseUrl,
    databaseUrl: external.postgresUrl.replace(/:[^:@]+@/, ":wrong@"),
    redisUrl: null,
  };
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(openStores(config, log)).rejects.toThrow(
      'Postgres cannot be used (password authentication failed for user "obs"): check DATABASE_URL.',
    );
  }
});

test("a store that never lets it in ends the start also while another one is away", async () => {
  using directory = temporaryDirectory();
  const opening = openStores(
    {
      dataDirectory: directory.path,
      clickhouseUrl: "http://127.0.0.1:1/obs",
      databaseUrl: external.postgresUrl.replace(/:[^:@]+@/, ":wrong@"),
      redisUrl: null,
    },
    log,
  );
  await expect(opening).rejects.toThrow("check DATABASE_URL.");
});

test("a monitor reports a store that fails and one that answers again", async () => {
  let isUp = true;
  let probes = 0;
  const monitor = new StoreMonitor({
    name: "store",
    log,
    probe: async () => {
      probes += 1;
      if (!isUp) throw new Error("connection refused by 10.0.0.1");
    },
  });
  expect(monitor.status()).toMatchObject({ name: "store", ok: true, detail: "", restarts: 0 });
  isUp = false;
  monitor.start();
  const down = await eventually("down", () => (monitor.status().ok ? null : monitor.status()));
  expect(down.detail).toBe("Does not answer.");
  isUp = true;
  await eventually("up again", () => monitor.status().ok);
  await monitor.stop();
  expect(probes).toBeGreaterThanOrEqual(2);
});
