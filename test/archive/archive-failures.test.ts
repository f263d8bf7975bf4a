import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { ARCHIVE_COLUMNS, FILE_STRUCTURE } from "../../src/archive/columns.ts";
import { fileName, patternOf } from "../../src/archive/files/archive-files.ts";
import { DirectoryFiles } from "../../src/archive/files/directory-files.ts";
import { UNIT_LEASE_MS } from "../../src/archive/limits.ts";
import { ArchiveStatements } from "../../src/archive/statements.ts";
import { createClickHouse } from "../../src/storage/clickhouse.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { idAt, insertRows, type StoredRow } from "../domains/logs/stored-rows.ts";
import { eventually } from "../harness/eventually.ts";
import { letPass } from "../harness/let-pass.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import {
  archivedIds,
  DAY_MS,
  hotIds,
  makeOrganization,
  NOW_MS,
  testArchiver,
  unitsOf,
} from "./archive-setup.ts";

const temporary = temporaryDirectory();
const HOUR_MS = 3_600_000;
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
beforeEach(() => stores.clickhouse.command({ query: "TRUNCATE TABLE logs" }));
afterAll(async () => {
  await stores.close();
  temporary[Symbol.dispose]();
});

async function oldEntries(count: number, daysAgo = 40): Promise<{ organization: number; ids: string[] }> {
  const organization = await makeOrganization(stores);
  const receivedMs = NOW_MS - daysAgo * DAY_MS;
  const rows = Array.from(
    { length: count },
    (_, i): StoredRow => ({
      organizationId: organization,
      ts: BigInt(receivedMs + i) * 1_000_000n,
      id: idAt(receivedMs + i),
      message: `job ${i} done`,
    }),
  );
  await insertRows(stores.clickhouse, rows);
  return { organization, ids: rows.map(({ id }) => id.toString()) };
}

test("several instances share the work: every entry moves once", async () => {
  const made = [await oldEntries(3, 40), await oldEntries(3, 40), await oldEntries(3, 41)];
  const instances = [1, 2, 3].map(() => testArchiver(stores, temporary.path));
  await Promise.all(instances.map(({ run }) => run()));
  await instances[0]?.run();
  const files = new DirectoryFiles(join(temporary.path, "archive"));
  for (const { organization, ids } of made) {
    expect(await hotIds(stores, organization)).toEqual([]);
    expect(await archivedIds(stores, organization, files)).toEqual(ids);
  }
});

test("a unit whose instance is not heard of any more is moved by another one when its lease is over", async () => {
  const { organization, ids } = await oldEntries(3);
  const begun = Promise.withResolvers<void>();
  class Hanging extends ArchiveStatements {
    override write(...[, , , signal]: Parameters<ArchiveStatements["write"]>): Promise<void> {
      begun.resolve();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
    }
  }
  const archive = new DirectoryFiles(join(temporary.path, "archive"));
  const statements = new Hanging(stores.clickhouse, archive);
  const lost = testArchiver(stores, temporary.path, { statements });
  const running = lost.run();
  await begun.promise;
  const { run, files } = testArchiver(stores, temporary.path);
  await run();
  expect(await hotIds(stores, organization)).toEqual(ids);
  // It says that it lives every now and then, so the other may have to look again.
  await eventually("the other takes over", async () => {
    await letPass(stores.postgres, "log_archive_units", UNIT_LEASE_MS);
    await run();
    return (await hotIds(stores, organization)).length === 0;
  });
  lost.stop();
  await running;
  expect(await archivedIds(stores, organization, files)).toEqual(ids);
  expect((await unitsOf(stores, organization)).map(({ state }) => state)).toEqual(["done"]);
});

describe("an instance that died", () => {
  /** The statements at which it hangs until it is dead. */
  const HANGS = {
    "as it wrote": "write",
    "as the log store let go": "deleteHot",
  } as const;
  for (const [when, method] of Object.entries(HANGS))
    test(`${when} has its unit at once when it comes back, and no other instance has it`, async () => {
      const { organization, ids } = await oldEntries(3);
      const place = crypto.randomUUID();
      const begun = Promise.withResolvers<void>();
      const statements = new ArchiveStatements(
        stores.clickhouse,
        new DirectoryFiles(join(temporary.path, "archive")),
      );
      statements[method] = () => {
        begun.resolve();
        return Promise.withResolvers<never>().promise;
      };
      const postgres = createPostgres(stores.postgresUrl);
      void testArchiver({ ...stores, postgres }, temporary.path, { statements, place }).run();
      await begun.promise;
      await postgres.end({ timeout: 0 });
      await testArchiver(stores, temporary.path, { place: `not ${place}` }).run();
      expect(await hotIds(stores, organization)).toEqual(ids);
      const { run, files } = testArchiver(stores, temporary.path, { place });
      await run();
      expect(await hotIds(stores, organization)).toEqual([]);
      expect(await archivedIds(stores, organization, files)).toEqual(ids);
      expect((await unitsOf(stores, organization)).map(({ state }) => state)).toEqual(["done"]);
    });
});

test("while ClickHouse is away nothing changes, the server says so, and later it goes on", async () => {
  const { organization, ids } = await oldEntries(4);
  const away = createClickHouse({ ...stores.clickhouseEndpoint, origin: "http://127.0.0.1:1" });
  const { archiver, run } = testArchiver({ ...stores, clickhouse: away }, temporary.path);
  await expect(run()).rejects.toThrow("a statement of the archive failed");
  await away.close();
  expect(archiver.status().state).toBe("degraded");
  expect(await hotIds(stores, organization)).toEqual(ids);
  const back = testArchiver(stores, temporary.path);
  await back.run();
  expect(back.archiver.status()).toEqual({ state: "up" });
  expect(await archivedIds(stores, organization, back.files)).toEqual(ids);
});

test("a file that is damaged before the log store has let go is given up, and another one is written", async () => {
  const { organization, ids } = await oldEntries(5);
  let file = "";
  const stopping = testArchiver(stores, temporary.path, {
    onStep: (step) => {
      if (step !== "committed") return;
      const folder = join(temporary.path, "archive", String(organization));
      const [day = ""] = readdirSync(folder);
      file = join(folder, day, readdirSync(join(folder, day))[0] ?? "");
      truncateSync(file, 100);
    },
  });
  await stopping.run();
  expect(await hotIds(stores, organization)).toEqual(ids);
  expect(stopping.archiver.status().state).toBe("degraded");
  expect((await unitsOf(stores, organization)).map(({ state }) => state)).toEqual(["planned"]);
  const { text } = await stopping.metrics.expose();
  expect(text).toContain('obs_archive_units_total{outcome="failed"} 1');
  expect(text).toContain("obs_archive_units_open 1");
  await letPass(stores.postgres, "log_archive_units", HOUR_MS);
  const { run, files } = testArchiver(stores, temporary.path, { now: () => NOW_MS + 2 * HOUR_MS });
  await run();
  expect(await hotIds(stores, organization)).toEqual([]);
  expect(await archivedIds(stores, organization, files)).toEqual(ids);
  expect(existsSync(file)).toBe(false);
});

test("a unit that fails is put off, longer each time, and does not hold up the others", async () => {
  const poor = await oldEntries(3, 40);
  const fine = await oldEntries(3, 41);
  let tries = 0;
  const { run, files } = testArchiver(stores, temporary.path, {
    onStep: (step, { organizationId }) => {
      if (organizationId !== poor.organization || step !== "begun") return;
      tries += 1;
      throw new Error("refused by the test");
    },
  });
  await run();
  expect(tries).toBe(1);
  expect(await archivedIds(stores, fine.organization, files)).toEqual(fine.ids);
  const wait = (ms: number): Promise<void> => letPass(stores.postgres, "log_archive_units", ms);
  await wait(-HOUR_MS);
  await run();
  expect(tries).toBe(1);
  await wait(HOUR_MS + 30_000);
  await run();
  expect(tries).toBe(2);
  await wait(-HOUR_MS);
  await run();
  expect(tries).toBe(2);
  expect(await hotIds(stores, poor.organization)).toEqual(poor.ids);
});

test("archived entries are deleted when the archive's own time is over", async () => {
  const { organization } = await oldEntries(3, 40);
  const younger = await oldEntries(3, 35);
  await testArchiver(stores, temporary.path).run();
  const expiring = { archiveDays: 38, now: () => NOW_MS };
  await testArchiver(stores, temporary.path, expiring).run();
  expect(await unitsOf(stores, organization)).toEqual([]);
  expect(await unitsOf(stores, younger.organization)).toHaveLength(1);
  const folder = join(temporary.path, "archive", String(organization), "2026-10-12");
  // Searches under way may still read it.
  expect(readdirSync(folder)).toHaveLength(1);
  await testArchiver(stores, temporary.path, { ...expiring, now: () => NOW_MS + 2 * HOUR_MS }).run();
  expect(readdirSync(folder)).toEqual([]);
});

test("a file has the columns that the log store has, of the same types", async () => {
  const described = await stores.clickhouse.query({
    query:
      "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = 'logs' ORDER BY position",
    format: "JSONEachRow",
  });
  const columns = await described.json<{ name: string; type: string }>();
  expect(FILE_STRUCTURE).toBe(columns.map(({ name, type }) => `${name} ${type}`).join(", "));
  expect(ARCHIVE_COLUMNS).toBe(columns.map(({ name }) => name).join(", "));
});

test("nothing but a name of ours gets into the pattern that ClickHouse reads", () => {
  const name = fileName(7, "2026-10-12", 3, "00112233445566aa");
  expect(patternOf([name])).toBe(name);
  expect(patternOf([name, name])).toBe(`{${name},${name}}`);
  for (const hostile of [
    "../8/2026-10-12/3-00112233445566aa.parquet",
    "*/*/*.parquet",
    `${name},8`,
    "",
    "{a,b}",
  ])
    expect(() => patternOf([hostile])).toThrow(RangeError);
  expect(() => patternOf([])).toThrow(RangeError);
  for (const path of ["/data/{a}", "/data/*", "/data/a?b", "/data/[x]"])
    expect(() => new DirectoryFiles(path)).toThrow(RangeError);
});
